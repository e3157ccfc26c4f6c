#include "mha/learners/crude/crude_projection.hpp"

#include <algorithm>
#include <numeric>

#include "mha/linear_algebra/dense.hpp"
#include "numerics/linear_algebra/matrix_equations.hpp"

namespace onset::mha {
namespace {

constexpr double slice_share = 0.01;
constexpr std::size_t slice_per_dim = 60;

double constant_columns(const Matrix& x) {
  double count = 0.0;
  for (Index c = 0; c < x.cols(); ++c) {
    count += (x.col(c).array() == x(0, c)).all() ? 1.0 : 0.0;
  }
  return count;
}

/// The sum of squares of the tokens about their mean.
double spread(const Matrix& x) {
  return (x.rowwise() - x.colwise().mean()).squaredNorm();
}

/// The examples in which attention can change least: of Boolean tokens, those with the most
/// constant columns; of real ones, which have none, those whose tokens lie nearest to one another.
/// Among equals, the first.
std::vector<std::uint32_t> slice(const Subset& sample) {
  const bool real = sample.examples->real();
  std::vector<double> rank(sample.size());
  for (std::size_t n = 0; n < sample.size(); ++n) {
    const Matrix x = tokens_of(sample, n, n + 1);
    rank[n] = real ? spread(x) : -constant_columns(x);
  }
  std::vector<std::uint32_t> order(sample.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t count =
      std::min(sample.size(),
               std::max(static_cast<std::size_t>(slice_share * static_cast<double>(sample.size())),
                        slice_per_dim * sample.dim()));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return rank[a] < rank[b]; });
  order.resize(count);
  return order;
}

}  // namespace

Matrix crude_projection(const Subset& sample, const Context& context) {
  const auto dim = static_cast<Index>(sample.dim());
  Matrix gram = Matrix::Zero(dim, dim);
  Matrix right = Matrix::Zero(dim, dim);
  for (const std::uint32_t n : slice(sample)) {
    const Matrix x = tokens_of(sample, n, n + 1);
    const Eigen::Map<const Matrix> y(sample.y(n), x.rows(), dim);
    const Vector mean = x.colwise().mean();
    gram.noalias() += mean * mean.transpose();
    right.noalias() += mean * y.colwise().mean();
  }
  context.check();
  return numerics::least_norm_solution(gram, right);
}

}  // namespace onset::mha
