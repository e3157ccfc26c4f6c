#include "mha/learners/crude/crude_projection.hpp"

#include <algorithm>
#include <numeric>

#include "mha/linear_algebra/decompositions.hpp"

namespace onset::mha {
namespace {

constexpr double slice_share = 0.01;
constexpr std::size_t slice_per_dim = 60;

int constant_columns(const std::int8_t* x, std::size_t tokens, std::size_t dim) {
  int count = 0;
  for (std::size_t c = 0; c < dim; ++c) {
    bool constant = true;
    for (std::size_t a = 1; a < tokens; ++a) constant = constant && x[a * dim + c] == x[c];
    count += constant ? 1 : 0;
  }
  return count;
}

/// The examples with the most constant columns; among equals, the first.
std::vector<std::uint32_t> slice(const Subset& sample) {
  std::vector<int> constant(sample.size());
  for (std::size_t n = 0; n < sample.size(); ++n) {
    constant[n] = constant_columns(sample.x(n), sample.tokens(), sample.dim());
  }
  std::vector<std::uint32_t> order(sample.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t count =
      std::min(sample.size(),
               std::max(static_cast<std::size_t>(slice_share * static_cast<double>(sample.size())),
                        slice_per_dim * sample.dim()));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return constant[a] > constant[b]; });
  order.resize(count);
  return order;
}

}  // namespace

Matrix crude_projection(const Subset& sample, const Context& context) {
  const auto dim = static_cast<Index>(sample.dim());
  const auto tokens = static_cast<Index>(sample.tokens());
  Matrix gram = Matrix::Zero(dim, dim);
  Matrix right = Matrix::Zero(dim, dim);
  for (const std::uint32_t n : slice(sample)) {
    const Eigen::Map<const Eigen::Matrix<std::int8_t, -1, -1, Eigen::RowMajor>> x(sample.x(n),
                                                                                  tokens, dim);
    const Eigen::Map<const Matrix> y(sample.y(n), tokens, dim);
    const Vector mean = x.cast<double>().colwise().mean();
    gram.noalias() += mean * mean.transpose();
    right.noalias() += mean * y.colwise().mean();
  }
  context.check();
  return minimum_norm_solution(gram, right);
}

}  // namespace onset::mha
