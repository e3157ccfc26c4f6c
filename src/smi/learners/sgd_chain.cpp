#include <algorithm>
#include <cmath>
#include <memory>
#include <stop_token>
#include <string>

#include "numerics/random/draws.hpp"
#include "onset/core/error.hpp"
#include "smi/learners/semidefinite_root.hpp"
#include "smi/learners/sgd.hpp"
#include "smi/learners/sgd_start.hpp"

namespace onset::smi {
namespace {

/// The number of samples between two looks at the stop token.
constexpr std::uint64_t poll_every = 4096;

/// The chain [smi 51-53]. Weights are known by their coordinates: over sqrt(D), teacher rows are
/// `teacher_` (lower triangular) in an orthonormal basis of their span, student rows are `along_`
/// in the same basis plus `residual_` (lower triangular) in one of what is left of them. Each step
/// uses the D - 2P directions outside of all rows through a Wishart matrix only.
class Chain {
 public:
  Chain(const SgdModel& model, const SgdOptions& options, std::uint64_t run)
      : loss_(model.loss()),
        options_(options),
        draws_(options.seed, "smi chain", run),
        p_(model.shape().directions()),
        tokens_(static_cast<std::size_t>(model.shape().tokens)),
        teacher_(p_ * p_),
        along_(p_ * p_),
        residual_(p_ * p_),
        gram_(p_ * p_),
        noise_(p_ * p_),
        bartlett_(p_ * p_),
        root_(p_ * p_),
        push_along_(p_ * p_),
        push_residual_(p_ * p_),
        xi_(2 * p_ * tokens_),
        fields_(p_ * tokens_),
        gradient_(p_ * tokens_),
        label_noise_(model.noise_size()),
        target_(model.label_size()) {
    start();
  }

  /// Returns false when the run is to stop.
  bool step(const std::stop_token& stop) {
    std::fill(push_along_.begin(), push_along_.end(), 0.0);
    std::fill(push_residual_.begin(), push_residual_.end(), 0.0);
    std::fill(noise_.begin(), noise_.end(), 0.0);
    for (std::size_t i = 0; i < options_.batch; ++i) {
      if (samples_++ % poll_every == 0 && stop.stop_requested()) return false;
      add_sample();
    }
    const auto dim = static_cast<double>(options_.dimension);
    // Coordinates are weights over sqrt(D): a step along x / sqrt(D) is one along x / D.
    const double along = options_.rate / (static_cast<double>(options_.batch) * dim);
    const double keep = 1.0 - options_.rate * options_.decay / dim;
    for (std::size_t k = 0; k < p_ * p_; ++k) {
      along_[k] = keep * along_[k] - along * push_along_[k];
      residual_[k] = keep * residual_[k] - along * push_residual_[k];
    }
    add_outside(along);
    return true;
  }

  [[nodiscard]] Overlaps overlaps() const {
    Overlaps o{p_, std::vector<double>(p_ * p_), std::vector<double>(p_ * p_),
               std::vector<double>(p_ * p_)};
    for (std::size_t i = 0; i < p_; ++i) {
      for (std::size_t j = 0; j < p_; ++j) {
        for (std::size_t k = 0; k < p_; ++k) {
          o.student[i * p_ + j] += along_[i * p_ + k] * along_[j * p_ + k] +
                                   residual_[i * p_ + k] * residual_[j * p_ + k];
          o.cross[i * p_ + j] += along_[i * p_ + k] * teacher_[j * p_ + k];
          o.teacher[i * p_ + j] += teacher_[i * p_ + k] * teacher_[j * p_ + k];
        }
      }
    }
    return o;
  }

 private:
  /// The lower triangular root of a Wishart matrix by Bartlett's decomposition.
  void draw_bartlett(double degrees) {
    std::fill(bartlett_.begin(), bartlett_.end(), 0.0);
    for (std::size_t i = 0; i < p_; ++i) {
      for (std::size_t j = 0; j < i; ++j) bartlett_[i * p_ + j] = draws_.normal();
      bartlett_[i * p_ + i] =
          std::sqrt(draws_.chi_square(numerics::ChiSquare(degrees - static_cast<double>(i))));
    }
  }

  /// Coordinates of random rows: Gram matrices of Gaussian rows are Wishart, and given the teacher
  /// a student's rows have Gaussian coordinates along it and a Wishart residual.
  void start() {
    const auto dim = static_cast<double>(options_.dimension);
    const double scale = 1.0 / std::sqrt(dim);
    draw_bartlett(dim);
    for (std::size_t k = 0; k < p_ * p_; ++k) teacher_[k] = scale * bartlett_[k];
    draw_bartlett(dim - static_cast<double>(p_));
    const double planted = options_.start_cosine;
    const double across = options_.init * std::sqrt(1.0 - planted * planted) * scale;
    for (std::size_t k = 0; k < p_ * p_; ++k) {
      along_[k] = options_.init * planted * teacher_[k] + across * draws_.normal();
      residual_[k] = across * bartlett_[k];
    }
  }

  /// Draws a sample through its coordinates in the 2P directions of all rows, and adds its
  /// gradient.
  void add_sample() {
    for (double& x : xi_) x = draws_.normal();
    const auto field = [&](const std::vector<double>& rows, std::size_t l, std::size_t t,
                           std::size_t first) {
      double sum = 0.0;
      for (std::size_t k = 0; k < p_; ++k) sum += rows[l * p_ + k] * xi_[(first + k) * tokens_ + t];
      return sum;
    };
    for (std::size_t l = 0; l < p_; ++l) {
      for (std::size_t t = 0; t < tokens_; ++t) fields_[l * tokens_ + t] = field(teacher_, l, t, 0);
    }
    for (double& e : label_noise_) e = draws_.normal();
    loss_->label(fields_, label_noise_, target_);
    for (std::size_t l = 0; l < p_; ++l) {
      for (std::size_t t = 0; t < tokens_; ++t) {
        fields_[l * tokens_ + t] = field(along_, l, t, 0) + field(residual_, l, t, p_);
      }
    }
    (*loss_)(target_, fields_, gradient_);
    for (std::size_t l = 0; l < p_; ++l) {
      for (std::size_t k = 0; k < p_; ++k) {
        for (std::size_t t = 0; t < tokens_; ++t) {
          const double g = gradient_[l * tokens_ + t];
          push_along_[l * p_ + k] += g * xi_[k * tokens_ + t];
          push_residual_[l * p_ + k] += g * xi_[(p_ + k) * tokens_ + t];
          noise_[l * p_ + k] += g * gradient_[k * tokens_ + t];
        }
      }
    }
  }

  /// What the step leaves outside the rows: Delta X_perp with X_perp independent of Delta, whose
  /// Gram matrix is R W R^T, R R^T = Delta Delta^T and W Wishart [smi 52]. The residual's new basis
  /// does not matter, so its Gram matrix is all that is kept.
  void add_outside(double scale) {
    draw_bartlett(static_cast<double>(options_.dimension) - 2.0 * static_cast<double>(p_));
    semidefinite_root(noise_.data(), p_, root_.data());
    for (std::size_t i = 0; i < p_; ++i) {
      for (std::size_t j = 0; j < p_; ++j) {
        double x = 0.0;
        for (std::size_t k = j; k <= i; ++k) x += root_[i * p_ + k] * bartlett_[k * p_ + j];
        noise_[i * p_ + j] = scale * x;
      }
    }
    for (std::size_t i = 0; i < p_; ++i) {
      for (std::size_t j = 0; j < p_; ++j) {
        double x = 0.0;
        for (std::size_t k = 0; k < p_; ++k) {
          x += residual_[i * p_ + k] * residual_[j * p_ + k] +
               noise_[i * p_ + k] * noise_[j * p_ + k];
        }
        gram_[i * p_ + j] = x;
      }
    }
    semidefinite_root(gram_.data(), p_, residual_.data());
  }

  std::unique_ptr<SampleLoss> loss_;
  const SgdOptions& options_;
  numerics::Draws draws_;
  std::uint64_t samples_ = 0;
  std::size_t p_, tokens_;
  std::vector<double> teacher_, along_, residual_;
  std::vector<double> gram_, noise_, bartlett_, root_, push_along_, push_residual_;
  std::vector<double> xi_, fields_, gradient_, label_noise_, target_;
};

}  // namespace

SgdRun sgd_chain(const SgdModel& model, const SgdOptions& options, std::uint64_t run,
                 const Context& context) {
  options.validate();
  const FieldShape& shape = model.shape();
  if (options.dimension < 3 * shape.directions()) {
    throw InvalidArgument("dimension", std::to_string(options.dimension) +
                                           " is too small for the chain; allowed: at least " +
                                           std::to_string(3 * shape.directions()) +
                                           " (three per direction)");
  }
  Chain chain(model, options, run);
  SgdHistory history(model, options, run);
  const double per_step =
      static_cast<double>(options.batch) / static_cast<double>(options.dimension);
  for (std::uint64_t step = 0;; ++step) {
    const double time = static_cast<double>(step) * per_step;
    if (time >= history.due() && !history.add(time, chain.overlaps())) break;
    history.run.interrupted = !chain.step(context.stop);
    if (history.run.interrupted) break;
  }
  return std::move(history.run);
}

}  // namespace onset::smi
