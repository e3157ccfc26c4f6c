#include "smi/learners/spectral_estimator.hpp"

// GCC 12 takes the end of life of Eigen's temporaries inside Spectra for a use after free.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuse-after-free"
#endif

#include <Spectra/GenEigsSolver.h>
#include <Spectra/SymEigsSolver.h>
#include <algorithm>
#include <cmath>

#include "numerics/linear_algebra/symmetric_eigen.hpp"
#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"
#include "smi/learners/token_rows.hpp"

namespace onset::smi {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// Samples whose inputs stay in the cache, and chains of them with sums of their own.
constexpr std::size_t block_samples = 64;
constexpr std::size_t max_chains = 32;
/// Size of the Krylov space, and the relative change at which an eigenvalue is taken.
constexpr Index krylov_size = 32;
constexpr double eigenvalue_tolerance = 1e-6;
constexpr int max_restarts = 2000;

/// Products with the inputs: fields f = X w / sqrt(D) of all samples, weights X^T f / sqrt(D).
class Inputs {
 public:
  Inputs(const Dataset& data, std::size_t directions, const Context& context)
      : data_(&data), directions_(directions), context_(&context) {}

  [[nodiscard]] std::size_t weights() const { return directions_ * data_->dimension; }
  [[nodiscard]] std::size_t fields() const { return directions_ * data_->tokens * data_->samples; }

  /// Makes new fields from those of w, sample by sample, and w from these, in one pass; without a
  /// `w` the old fields are all that there is. fields[(sample * directions + p) * tokens + t].
  template <class Change>
  void pass(const double* w, double* fields, const Change& change, double* out) const {
    const std::size_t blocks = (data_->samples + block_samples - 1) / block_samples;
    const std::size_t chains = std::min(max_chains, blocks);
    const std::size_t tokens = data_->tokens;
    const std::size_t dim = data_->dimension;
    std::vector<std::vector<double>> parts(chains);
    numerics::parallel_for(*context_, chains, [&](std::size_t chain) {
      if (out) parts[chain].assign(weights(), 0.0);
      std::vector<double> rows_of(directions_ * tokens * block_samples);
      for (std::size_t k = chain * blocks / chains; k < (chain + 1) * blocks / chains; ++k) {
        const std::size_t first = k * block_samples;
        const std::size_t count = std::min(block_samples, data_->samples - first);
        const std::size_t rows = count * tokens;
        const double* x = data_->inputs.data() + first * tokens * dim;
        if (w) project_rows(x, rows, dim, w, directions_, rows_of.data());
        for (std::size_t i = 0; i < count; ++i) {
          double* own = fields + (first + i) * directions_ * tokens;
          if (w) {
            for (std::size_t p = 0; p < directions_; ++p) {
              for (std::size_t t = 0; t < tokens; ++t) {
                own[p * tokens + t] = rows_of[p * rows + i * tokens + t];
              }
            }
          }
          change(first + i, own);
          for (std::size_t p = 0; p < directions_; ++p) {
            for (std::size_t t = 0; t < tokens; ++t) {
              rows_of[p * rows + i * tokens + t] = own[p * tokens + t];
            }
          }
        }
        if (out) back_project_rows(x, rows, dim, rows_of.data(), directions_, parts[chain].data());
      }
    });
    context_->check();
    if (!out) return;
    const double scale = 1.0 / std::sqrt(static_cast<double>(dim));
    for (std::size_t j = 0; j < weights(); ++j) {
      double sum = 0.0;
      for (const auto& part : parts) sum += part[j];
      out[j] = scale * sum;
    }
  }

 private:
  const Dataset* data_;
  std::size_t directions_;
  const Context* context_;
};

void multiply(const MatrixXd& matrix, double* fields) {
  Eigen::Map<Eigen::VectorXd> own(fields, matrix.rows());
  own = (matrix * own).eval();
}

/// H w = sum_mu x_mu^T T(y_mu) x_mu w / D.
class SymmetricOperator {
 public:
  using Scalar = double;
  SymmetricOperator(const Inputs& inputs, const std::vector<MatrixXd>& weights)
      : inputs_(&inputs), weights_(&weights), fields_(inputs.fields()) {}
  [[nodiscard]] Index rows() const { return static_cast<Index>(inputs_->weights()); }
  [[nodiscard]] Index cols() const { return rows(); }
  void perform_op(const double* in, double* out) const {
    inputs_->pass(
        in, fields_.data(),
        [this](std::size_t sample, double* fields) { multiply((*weights_)[sample], fields); }, out);
    ++products;
  }
  mutable int products = 0;

 private:
  const Inputs* inputs_;
  const std::vector<MatrixXd>* weights_;
  mutable std::vector<double> fields_;
};

/// L omega = (X X^T / D - 1) G omega [links 39].
class LampOperator {
 public:
  using Scalar = double;
  LampOperator(const Inputs& inputs, const std::vector<MatrixXd>& excess)
      : inputs_(&inputs), excess_(&excess), weights_(inputs.weights()) {}
  [[nodiscard]] Index rows() const { return static_cast<Index>(inputs_->fields()); }
  [[nodiscard]] Index cols() const { return rows(); }
  void perform_op(const double* in, double* out) const {
    std::vector<double> pushed(in, in + rows());
    to_weights(pushed, weights_.data());
    inputs_->pass(
        weights_.data(), out, [](std::size_t, double*) {}, nullptr);
    for (std::size_t k = 0; k < pushed.size(); ++k) out[k] -= pushed[k];
    ++products;
  }
  /// omega becomes G omega, and w = X^T G omega / sqrt(D).
  void to_weights(std::vector<double>& omega, double* w) const {
    inputs_->pass(
        nullptr, omega.data(),
        [this](std::size_t sample, double* fields) { multiply((*excess_)[sample], fields); }, w);
  }
  mutable int products = 0;

 private:
  const Inputs* inputs_;
  const std::vector<MatrixXd>* excess_;
  mutable std::vector<double> weights_;
};

std::vector<double> start_vector(Index size, std::uint64_t seed) {
  std::vector<double> start(static_cast<std::size_t>(size));
  numerics::Stream(seed, "spectral start").normal(start);
  return start;
}

void normalise(std::vector<double>& vector) {
  double sum = 0.0;
  for (const double x : vector) sum += x * x;
  for (double& x : vector) x /= std::sqrt(sum);
}

SpectralEstimate lamp(const Inputs& inputs, const std::vector<MatrixXd>& excess,
                      const SpectralEstimatorOptions& options) {
  LampOperator op(inputs, excess);
  const Index size = std::min<Index>(krylov_size + 2 * Index{options.wanted}, op.rows());
  Spectra::GenEigsSolver<LampOperator> solver(op, options.wanted, size);
  solver.init(start_vector(op.rows(), options.seed).data());
  const Index found =
      solver.compute(Spectra::SortRule::LargestReal, max_restarts, eigenvalue_tolerance);
  SpectralEstimate out;
  out.converged = found >= options.wanted;
  const Eigen::MatrixXcd vectors = solver.eigenvectors();
  for (Index k = 0; k < found; ++k) {
    out.eigenvalue.push_back(solver.eigenvalues()(k).real());
    const Eigen::VectorXd real = vectors.col(k).real();
    std::vector<double> omega(real.data(), real.data() + real.size());
    std::vector<double> w(inputs.weights());
    op.to_weights(omega, w.data());
    normalise(w);
    out.vectors.push_back(std::move(w));
  }
  out.products = op.products;
  return out;
}

}  // namespace

MatrixXd spectral_weight(const MatrixXd& excess, double gamma) {
  const numerics::SymmetricEigen eigen = numerics::symmetric_eigen(excess);
  Eigen::VectorXd t = eigen.values;
  for (double& g : t) {
    // gamma + G is positive but for errors of G.
    const double below = gamma + g;
    g = below > 0.0 ? std::max(least_weight, g / below) : least_weight;
  }
  return eigen.vectors * t.asDiagonal() * eigen.vectors.transpose();
}

SpectralEstimate spectral_estimate(const Dataset& data, const std::vector<MatrixXd>& excess,
                                   const SpectralEstimatorOptions& options,
                                   const Context& context) {
  const auto directions = static_cast<std::size_t>(excess.front().rows()) / data.tokens;
  const Inputs inputs(data, directions, context);
  if (options.is_lamp) return lamp(inputs, excess, options);
  std::vector<MatrixXd> weights;
  for (const MatrixXd& g : excess) weights.push_back(spectral_weight(g, options.gamma));
  SymmetricOperator op(inputs, weights);
  // One more than wanted, which shows the gap.
  const Index asked = std::min<Index>(options.wanted + 1, op.rows() - 1);
  const Index size = std::min<Index>(krylov_size + 2 * asked, op.rows());
  Spectra::SymEigsSolver<SymmetricOperator> solver(op, asked, size);
  solver.init(start_vector(op.rows(), options.seed).data());
  const Index found =
      solver.compute(Spectra::SortRule::LargestAlge, max_restarts, eigenvalue_tolerance);
  SpectralEstimate out;
  out.converged = found >= asked;
  const MatrixXd vectors = solver.eigenvectors();
  for (Index k = 0; k < found; ++k) {
    out.eigenvalue.push_back(solver.eigenvalues()(k));
    if (k >= options.wanted) continue;
    const Eigen::VectorXd w = vectors.col(k);
    out.vectors.emplace_back(w.data(), w.data() + w.size());
  }
  out.products = op.products;
  return out;
}

std::vector<double> weighted_fields(const Dataset& data, const std::vector<MatrixXd>& excess,
                                    const std::vector<double>& weights, const Context& context) {
  const Inputs inputs(data, weights.size() / data.dimension, context);
  std::vector<double> fields(inputs.fields());
  inputs.pass(
      weights.data(), fields.data(),
      [&](std::size_t sample, double* own) { multiply(spectral_weight(excess[sample], 1.0), own); },
      nullptr);
  return fields;
}

double teacher_overlap(const SpectralEstimate& estimate, const Dataset& data,
                       const std::vector<std::size_t>& directions) {
  const std::size_t dim = data.dimension;
  double sum = 0.0;
  for (const std::vector<double>& w : estimate.vectors) {
    for (const std::size_t q : directions) {
      const double* teacher = data.teacher.data() + q * dim;
      double norm = 0.0;
      for (std::size_t d = 0; d < dim; ++d) norm += teacher[d] * teacher[d];
      for (std::size_t p = 0; p * dim < w.size(); ++p) {
        double product = 0.0;
        for (std::size_t d = 0; d < dim; ++d) product += w[p * dim + d] * teacher[d];
        sum += product * product / norm;
      }
    }
  }
  return estimate.vectors.empty() ? 0.0 : sum / static_cast<double>(estimate.vectors.size());
}

}  // namespace onset::smi
