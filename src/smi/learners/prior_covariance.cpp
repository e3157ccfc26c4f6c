#include "smi/learners/prior_covariance.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "onset/core/error.hpp"
#include "onset/numerics/linear_algebra.hpp"

namespace onset::smi {
namespace {

/// Below this relative difference of eigenvalues a block counts as isotropic: the error that this
/// makes in a message is of the same size.
constexpr double isotropic_to = 1e-6;
/// The nodes of s: a trapezoid rule in units of its standard deviation, whose step resolves the
/// width sqrt(v_b) of what is integrated (an error below 1e-8 at this step for a Gaussian).
constexpr double reach = 6.0;
constexpr double widest_step = 0.5;
constexpr double step_per_width = 0.8;
constexpr double most_nodes = 4096;

/// One direction of the fields along which s is spread.
struct Spread {
  std::vector<double> direction;  ///< per field, times the standard deviation
  double step;
};

/// Adds the spread of one eigenvector of a block, one for every token.
void add_spreads(const FieldShape& shape, std::size_t block, const double* eigenvector,
                 double excess, double least, std::vector<Spread>& out) {
  const auto tokens = static_cast<std::size_t>(shape.tokens);
  const double deviation = std::sqrt(excess);
  for (std::size_t t = 0; t < tokens; ++t) {
    Spread spread{std::vector<double>(shape.fields(), 0.0),
                  std::min(widest_step, step_per_width * std::sqrt(least) / deviation)};
    for (std::size_t p = 0; p < static_cast<std::size_t>(shape.rank[block]); ++p) {
      spread.direction[shape.first(block) + p * tokens + t] = deviation * eigenvector[p];
    }
    out.push_back(std::move(spread));
  }
}

/// Every node so far times every node along the spread.
void multiply_nodes(const Spread& spread, std::size_t fields, SmoothedPrior& prior) {
  const auto half = static_cast<int>(std::ceil(reach / spread.step));
  if (static_cast<double>(prior.nodes()) * (2.0 * half + 1.0) > most_nodes) {
    throw Refused(
        "directions of a block are learned so unevenly that the integral over their covariance "
        "takes more than " +
        std::to_string(static_cast<int>(most_nodes)) + " posteriors per sample");
  }
  const double log_norm = std::log(spread.step) - 0.5 * std::log(2.0 * std::acos(-1.0));
  SmoothedPrior next{prior.variance, {}, {}};
  for (std::size_t k = 0; k < prior.nodes(); ++k) {
    for (int j = -half; j <= half; ++j) {
      const double x = j * spread.step;
      next.log_weights.push_back(prior.log_weights[k] + log_norm - 0.5 * x * x);
      for (std::size_t f = 0; f < fields; ++f) {
        next.offsets.push_back(prior.offsets[k * fields + f] + x * spread.direction[f]);
      }
    }
  }
  prior = std::move(next);
}

}  // namespace

BlockMatrices isotropic(const FieldShape& shape, double v) {
  BlockMatrices out;
  for (const int rank_of_block : shape.rank) {
    const auto rank = static_cast<std::size_t>(rank_of_block);
    out.emplace_back(rank * rank, 0.0);
    for (std::size_t p = 0; p < rank; ++p) out.back()[p * rank + p] = v;
  }
  return out;
}

void map_eigenvalues(std::vector<double>& matrix, std::size_t size, double (*f)(double)) {
  if (size == 1) {
    matrix[0] = f(matrix[0]);
    return;
  }
  std::vector<double> vectors = matrix;
  std::vector<double> values(size);
  numerics::symmetric_eigen(size, vectors, values);
  std::fill(matrix.begin(), matrix.end(), 0.0);
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        matrix[i * size + j] += f(values[k]) * vectors[k * size + i] * vectors[k * size + j];
      }
    }
  }
}

double trace(const std::vector<double>& matrix, std::size_t size) {
  double sum = 0.0;
  for (std::size_t p = 0; p < size; ++p) sum += matrix[p * size + p];
  return sum;
}

SmoothedPrior smoothed_prior(const FieldShape& shape, const BlockMatrices& covariance) {
  std::vector<Spread> spreads;
  SmoothedPrior prior{{}, {0.0}, std::vector<double>(shape.fields(), 0.0)};
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const auto rank = static_cast<std::size_t>(shape.rank[b]);
    if (rank == 1) {
      prior.variance.push_back(covariance[b][0]);
      continue;
    }
    std::vector<double> vectors = covariance[b];
    std::vector<double> values(rank);
    numerics::symmetric_eigen(rank, vectors, values);
    const double least = values[0];
    prior.variance.push_back(least);
    for (std::size_t k = 1; k < rank; ++k) {
      if (values[k] - least <= isotropic_to * least) continue;
      add_spreads(shape, b, vectors.data() + k * rank, values[k] - least, least, spreads);
    }
  }
  for (const Spread& spread : spreads) multiply_nodes(spread, shape.fields(), prior);
  return prior;
}

}  // namespace onset::smi
