#include "smi/learners/spectral_start.hpp"

#include <cmath>

#include "numerics/linear_algebra/symmetric_eigen.hpp"
#include "smi/learners/spectral_estimator.hpp"
#include "smi/limits/spectral.hpp"

namespace onset::smi {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Combinations of degenerate eigenvectors are turned until their shape changes by less.
constexpr double same_shape = 1e-10;
constexpr int max_turns = 500;

/// A function of the eigenvalues of a symmetric matrix.
template <class Function>
MatrixXd applied(const MatrixXd& matrix, const Function& function) {
  const numerics::SymmetricEigen eigen = numerics::symmetric_eigen(matrix);
  return eigen.vectors * eigen.values.unaryExpr(function).asDiagonal() * eigen.vectors.transpose();
}

/// The element w of an eigenspace with w w^T = shape / tr(shape), by turns: it is given this shape,
/// and then brought back into the eigenspace.
Rows with_shape(const std::vector<std::vector<double>>& vectors, const MatrixXd& shape,
                std::size_t dimension) {
  std::vector<Eigen::Map<const Rows>> basis;
  for (const auto& v : vectors) {
    basis.emplace_back(v.data(), shape.rows(), static_cast<Index>(dimension));
  }
  Rows w = basis.front();
  for (std::size_t k = 1; k < basis.size(); ++k) w += basis[k];
  w /= w.norm();
  if (basis.size() == 1) return w;
  const MatrixXd root =
      applied(shape / shape.trace(), [](double x) { return std::sqrt(std::max(x, 0.0)); });
  for (int turn = 0; turn < max_turns; ++turn) {
    const MatrixXd own = w * w.transpose();
    // An element that lacks a direction altogether gets it back slowly.
    const double floor = 1e-6 * own.trace();
    const MatrixXd change =
        root * applied(own, [floor](double x) { return 1.0 / std::sqrt(std::max(x, floor)); });
    const Rows wanted = change * w;
    Rows next = Rows::Zero(w.rows(), w.cols());
    for (const auto& v : basis) next += wanted.cwiseProduct(v).sum() * v;
    next /= next.norm();
    const double moved = (next - w).norm();
    w = std::move(next);
    if (moved < same_shape) break;
  }
  return w;
}

/// One block's part of a start.
struct BlockStart {
  Rows weights;
  MatrixXd variance;
  std::vector<double> messages;  ///< by sample, direction and token
};

std::optional<BlockStart> block_start(const OwnOutlier& outlier,
                                      const std::vector<MatrixXd>& excess, const Dataset& data,
                                      std::uint64_t seed, const Context& context) {
  SpectralEstimatorOptions options;
  options.wanted = outlier.multiplicity;
  options.seed = seed;
  const SpectralEstimate found = spectral_estimate(data, excess, options, context);
  if (!found.converged) return std::nullopt;
  const auto dim = static_cast<double>(data.dimension);
  // Overlaps of one run scatter by about this much, so that none may be surer.
  const double scatter = 1.0 / std::sqrt(dim);
  BlockStart out;
  out.variance = applied(outlier.theta, [scatter](double v) { return std::max(v, scatter); });
  const MatrixXd overlap =
      MatrixXd::Identity(outlier.theta.rows(), outlier.theta.cols()) - out.variance;
  out.weights =
      std::sqrt(dim * overlap.trace()) * with_shape(found.vectors, overlap, data.dimension);
  const std::vector<double> weights(out.weights.data(), out.weights.data() + out.weights.size());
  out.messages = weighted_fields(data, excess, weights, context);
  return out;
}

/// Puts a block into the start of all.
void add_block(const BlockStart& block, const std::vector<std::size_t>& directions,
               const Dataset& data, MessageStart& start) {
  const std::size_t before = start.directions.size();
  const std::size_t size = before + directions.size();
  std::vector<double> variance(size * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      if (i < before && j < before) variance[i * size + j] = start.variance[i * before + j];
      if (i < before || j < before) continue;
      variance[i * size + j] =
          block.variance(static_cast<Index>(i - before), static_cast<Index>(j - before));
    }
  }
  start.variance = std::move(variance);
  start.directions.insert(start.directions.end(), directions.begin(), directions.end());
  start.weights.insert(start.weights.end(), block.weights.data(),
                       block.weights.data() + block.weights.size());
  const std::size_t rows = directions.size() * data.tokens;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < data.samples; ++i) {
      start.messages.push_back(block.messages[i * rows + row]);
    }
  }
}

}  // namespace

double informative_ratio(double growth, std::size_t dimension) {
  return (1.0 + 1.0 / std::cbrt(static_cast<double>(dimension))) / growth;
}

std::optional<MessageStart> spectral_start(const SpectralLaw& law,
                                           const std::vector<std::vector<std::size_t>>& directions,
                                           const SampleExcess& excess, const Dataset& data,
                                           std::uint64_t seed, const Context& context) {
  const double alpha = static_cast<double>(data.samples) / static_cast<double>(data.dimension);
  const std::vector<Estimate> growth = spectral_growth(law);
  MessageStart start;
  for (std::size_t b = 0; b < law.names.size(); ++b) {
    if (law.is_pulled(b)) continue;
    if (!(alpha > informative_ratio(growth[b].value, data.dimension))) continue;
    const auto outlier = own_outlier(law, b, alpha);
    if (!outlier) continue;
    const auto block = block_start(*outlier, excess.block[b], data, seed, context);
    if (block) add_block(*block, directions[b], data, start);
  }
  if (start.directions.empty()) return std::nullopt;
  return start;
}

}  // namespace onset::smi
