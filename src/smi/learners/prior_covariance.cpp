#include "smi/learners/prior_covariance.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "numerics/linear_algebra/dense.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/quadrature.hpp"

namespace onset::smi {
namespace {

/// V counts as isotropic where its eigenvalues differ by less than this, relatively; a message then
/// has an error of the same size.
constexpr double even_to = 1e-6;
/// These set the nodes of s along a direction where s is r times as wide as e. A narrow s takes a
/// Gauss-Hermite rule, whose error for a Gaussian is (r^2/2)^n; a wide one takes a trapezoid rule
/// whose step resolves e (with an error below 1e-8 for a Gaussian).
constexpr double narrow = 0.8;
constexpr double narrow_error = 1e-7;
constexpr double reach = 6.0;
constexpr double widest_step = 0.5;
constexpr double step_per_width = 0.8;
constexpr double max_nodes = 4096;
/// The least eigenvalue of a prior's correlations between blocks: the nodes of a prior without them
/// must still be able to represent it.
constexpr double min_correlation = 0.1;
/// Matrices of correlations with eigenvalues below this are singular to rounding.
constexpr double min_eigenvalue = 1e-13;

[[noreturn]] void too_many_nodes() {
  throw Refused(
      "directions are learned so unevenly that the integral over their covariance takes more "
      "than " +
      std::to_string(static_cast<int>(max_nodes)) + " posteriors per sample");
}

numerics::Rule spread_rule(double ratio) {
  if (ratio < narrow) {
    const double order = std::log(narrow_error) / std::log(0.5 * ratio * ratio);
    return numerics::gauss_hermite(static_cast<int>(std::ceil(order)));
  }
  const double step = std::min(widest_step, step_per_width / ratio);
  if (!(2.0 * reach / step <= max_nodes)) too_many_nodes();
  return numerics::normal_trapezoid(step, reach);
}

/// Combines every node so far with every node of the rule along a direction of the fields.
void multiply_nodes(const numerics::Rule& rule, const std::vector<double>& direction,
                    SmoothedPrior& prior) {
  if (static_cast<double>(prior.nodes() * rule.nodes.size()) > max_nodes) too_many_nodes();
  SmoothedPrior next{prior.variance, prior.coupling, {}, {}};
  const std::size_t fields = direction.size();
  for (std::size_t k = 0; k < prior.nodes(); ++k) {
    for (std::size_t j = 0; j < rule.nodes.size(); ++j) {
      next.log_weights.push_back(prior.log_weights[k] + std::log(rule.weights[j]));
      for (std::size_t f = 0; f < fields; ++f) {
        next.offsets.push_back(prior.offsets[k * fields + f] + rule.nodes[j] * direction[f]);
      }
    }
  }
  prior = std::move(next);
}

/// f(matrix): the same eigenvectors, every eigenvalue sent through f.
template <class Function>
void map_eigenvalues(DirectionMatrix& matrix, std::size_t size, const Function& f) {
  DirectionMatrix vectors = matrix;
  std::vector<double> values(size);
  numerics::symmetric_eigen(size, vectors, values);
  std::fill(matrix.begin(), matrix.end(), 0.0);
  for (std::size_t k = 0; k < size; ++k) {
    const double value = f(values[k]);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        matrix[i * size + j] += value * vectors[k * size + i] * vectors[k * size + j];
      }
    }
  }
}

/// Square roots of the diagonal: units in which directions of very different variance are alike.
std::vector<double> roots_of_diagonal(const DirectionMatrix& matrix, std::size_t size) {
  std::vector<double> out;
  for (std::size_t p = 0; p < size; ++p) out.push_back(std::sqrt(matrix[p * size + p]));
  return out;
}

void multiply_rows_and_columns(const std::vector<double>& units, double power,
                               DirectionMatrix& matrix) {
  const std::size_t size = units.size();
  for (std::size_t k = 0; k < matrix.size(); ++k) {
    matrix[k] *= std::pow(units[k / size], power) * std::pow(units[k % size], power);
  }
}

/// The block of every direction.
std::vector<std::size_t> block_of(const FieldShape& shape) {
  std::vector<std::size_t> out;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    out.insert(out.end(), static_cast<std::size_t>(shape.rank[b]), b);
  }
  return out;
}

/// Least eigenvalue of every block.
std::vector<double> min_eigenvalues(const FieldShape& shape, const DirectionMatrix& matrix) {
  const std::size_t size = shape.directions();
  std::vector<double> out;
  std::size_t first = 0;
  for (const int rank_of_block : shape.rank) {
    const auto rank = static_cast<std::size_t>(rank_of_block);
    DirectionMatrix block(rank * rank);
    for (std::size_t k = 0; k < block.size(); ++k) {
      block[k] = matrix[(first + k / rank) * size + first + k % rank];
    }
    std::vector<double> values(rank);
    numerics::symmetric_eigen(rank, block, values);
    out.push_back(values[0]);
    first += rank;
  }
  return out;
}

/// Eigenvalues of a matrix of correlations.
std::vector<double> eigenvalues(DirectionMatrix matrix, std::size_t size) {
  std::vector<double> values(size);
  numerics::symmetric_eigen(size, matrix, values);
  return values;
}

bool all_finite(const DirectionMatrix& matrix) {
  return std::all_of(matrix.begin(), matrix.end(), [](double x) { return std::isfinite(x); });
}

/// V in units of the roots of the blocks' least eigenvalues, cut into what is inside blocks and
/// what is between them.
struct ScaledCovariance {
  std::vector<double> least;  // per block
  std::vector<double> scale;  // per direction
  DirectionMatrix inside, between;
};

ScaledCovariance scaled(const FieldShape& shape, const DirectionMatrix& covariance) {
  const std::size_t size = shape.directions();
  const std::vector<std::size_t> block = block_of(shape);
  ScaledCovariance out{min_eigenvalues(shape, covariance), {}, {}, {}};
  // An eigenvalue was lost to rounding among much larger ones.
  if (!(*std::min_element(out.least.begin(), out.least.end()) > 0.0)) too_many_nodes();
  for (const std::size_t b : block) out.scale.push_back(std::sqrt(out.least[b]));
  out.inside.assign(size * size, 0.0);
  out.between.assign(size * size, 0.0);
  for (std::size_t k = 0; k < size * size; ++k) {
    const std::size_t p = k / size, q = k % size;
    (block[p] == block[q] ? out.inside : out.between)[k] =
        covariance[k] / (out.scale[p] * out.scale[q]);
  }
  return out;
}

}  // namespace

DirectionMatrix isotropic(const FieldShape& shape, double v) {
  const std::size_t size = shape.directions();
  DirectionMatrix out(size * size, 0.0);
  for (std::size_t p = 0; p < size; ++p) out[p * size + p] = v;
  return out;
}

bool invert(DirectionMatrix& matrix, std::size_t size) {
  const std::vector<double> units = roots_of_diagonal(matrix, size);
  DirectionMatrix inverse = matrix;
  multiply_rows_and_columns(units, -1.0, inverse);
  if (!all_finite(inverse) || !(eigenvalues(inverse, size)[0] > min_eigenvalue)) return false;
  map_eigenvalues(inverse, size, [](double x) { return 1.0 / x; });
  multiply_rows_and_columns(units, -1.0, inverse);
  matrix = std::move(inverse);
  return true;
}

void cut_negative(DirectionMatrix& matrix, const DirectionMatrix& covariance, std::size_t size) {
  const std::vector<double> units = roots_of_diagonal(covariance, size);
  multiply_rows_and_columns(units, 1.0, matrix);
  map_eigenvalues(matrix, size, [](double x) { return std::max(x, 0.0); });
  multiply_rows_and_columns(units, -1.0, matrix);
}

double mean_eigenvalue(const DirectionMatrix& matrix, const FieldShape& shape, std::size_t block) {
  const std::size_t size = shape.directions();
  const std::size_t first = shape.first(block) / static_cast<std::size_t>(shape.tokens);
  const auto rank = static_cast<std::size_t>(shape.rank[block]);
  double sum = 0.0;
  for (std::size_t p = first; p < first + rank; ++p) sum += matrix[p * size + p];
  return sum / static_cast<double>(rank);
}

BetweenBlocks between_blocks(const Posterior& posterior, const FieldShape& shape) {
  if (posterior.any_covariance()) return BetweenBlocks::all;
  if (shape.blocks() == 1 || !posterior.between_blocks()) return BetweenBlocks::nothing;
  return posterior.exact() ? BetweenBlocks::nodes : BetweenBlocks::weights;
}

void limit_between(const FieldShape& shape, DirectionMatrix& covariance) {
  const std::vector<std::size_t> block = block_of(shape);
  const std::size_t size = block.size();
  const double least = eigenvalues(scaled(shape, covariance).between, size)[0];
  if (least >= min_correlation - 1.0) return;
  const double share = (1.0 - min_correlation) / -least;
  for (std::size_t k = 0; k < size * size; ++k) {
    if (block[k / size] != block[k % size]) covariance[k] *= share;
  }
}

SmoothedPrior smoothed_prior(const FieldShape& shape, const DirectionMatrix& covariance,
                             BetweenBlocks between) {
  const std::size_t size = shape.directions();
  const auto tokens = static_cast<std::size_t>(shape.tokens);
  if (between == BetweenBlocks::all) {
    return {std::vector<double>(shape.blocks(), 1.0),
            {},
            {0.0},
            std::vector<double>(shape.fields(), 0.0),
            covariance};
  }
  ScaledCovariance v = scaled(shape, covariance);
  SmoothedPrior prior{v.least, {}, {0.0}, std::vector<double>(shape.fields(), 0.0)};
  if (between == BetweenBlocks::weights) {
    // K = R^{-1} - I [smi 86].
    map_eigenvalues(v.between, size, [](double x) { return -x / (1.0 + x); });
    const bool any =
        std::any_of(v.between.begin(), v.between.end(), [](double k) { return k != 0.0; });
    if (any) prior.coupling = v.between;
  }
  DirectionMatrix& even = v.inside;
  if (between == BetweenBlocks::nodes) {
    for (std::size_t k = 0; k < even.size(); ++k) even[k] += v.between[k];
  }
  std::vector<double> values(size);
  numerics::symmetric_eigen(size, even, values);
  for (double& least : prior.variance) least *= values[0];
  for (std::size_t k = 1; k < size; ++k) {
    const double excess = values[k] / values[0] - 1.0;
    if (excess <= even_to) continue;
    const double width = std::sqrt(values[0] * excess);
    const numerics::Rule rule = spread_rule(std::sqrt(excess));
    for (std::size_t t = 0; t < tokens; ++t) {
      std::vector<double> direction(shape.fields(), 0.0);
      for (std::size_t p = 0; p < size; ++p) {
        direction[p * tokens + t] = width * v.scale[p] * even[k * size + p];
      }
      multiply_nodes(rule, direction, prior);
    }
  }
  return prior;
}

}  // namespace onset::smi
