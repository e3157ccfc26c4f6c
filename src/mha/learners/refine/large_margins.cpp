#include "mha/learners/refine/large_margins.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mha/linear_algebra/dense.hpp"
#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/parallel.hpp"

namespace onset::mha {
namespace {

constexpr std::size_t rows_per_dim = 40;
constexpr double row_share = 0.002;
constexpr int rounds = 30;
/// Residuals below this share of a label weigh no more than one of this size.
constexpr double residual_floor = 1e-9;

struct Attended {
  double margin = -1.0;
  std::uint16_t token = 0;
};

/// For every row, the margin between the largest logit and the next, and the token that has it.
std::vector<Attended> attended_tokens(const Subset& sample, const Matrix& proxy,
                                      const Context& context) {
  const std::size_t tokens = sample.tokens();
  std::vector<Attended> out(sample.rows());
  numerics::parallel_for(context, chunks_of(sample), [&](std::size_t chunk) {
    const std::size_t begin = chunk * subset_chunk;
    const std::size_t end = std::min(sample.size(), begin + subset_chunk);
    const Matrix x = tokens_of(sample, begin, end);
    const Matrix queries = x * proxy;
    const auto k = static_cast<Index>(tokens);
    for (std::size_t n = begin; n < end; ++n) {
      const auto first = static_cast<Index>((n - begin) * tokens);
      const Matrix logits = queries.middleRows(first, k) * x.middleRows(first, k).transpose();
      for (Index a = 0; a < k; ++a) {
        Index top = 0;
        const double largest = logits.row(a).maxCoeff(&top);
        double second = -std::numeric_limits<double>::infinity();
        for (Index b = 0; b < k; ++b) second = b == top ? second : std::max(second, logits(a, b));
        out[n * tokens + static_cast<std::size_t>(a)] = {largest - second,
                                                         static_cast<std::uint16_t>(top)};
      }
    }
  });
  return out;
}

std::vector<std::size_t> largest_margins(const std::vector<Attended>& attended, std::size_t count) {
  std::vector<std::size_t> rows(attended.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const auto before = [&](std::size_t a, std::size_t b) {
    return attended[a].margin != attended[b].margin ? attended[a].margin > attended[b].margin
                                                    : a < b;
  };
  if (count < rows.size()) {
    std::nth_element(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count), rows.end(),
                     before);
    rows.resize(count);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// argmin_W sum_s |y_s - x_s W| by iteratively reweighted least squares.
Matrix geometric_median_regression(const Matrix& x, const Matrix& y, const Context& context) {
  const double floor = residual_floor * y.norm() / std::sqrt(static_cast<double>(y.rows()));
  Vector weights = Vector::Ones(x.rows());
  Matrix w;
  for (int round = 0; round < rounds; ++round) {
    context.check();
    const Matrix weighted = weights.asDiagonal() * x;
    w = numerics::solve_normal_equations(x.transpose() * weighted, weighted.transpose() * y);
    const Vector residual = (y - x * w).rowwise().norm();
    weights = residual.cwiseMax(floor).cwiseInverse();
    weights /= weights.maxCoeff();
  }
  return w;
}

}  // namespace

Matrix large_margin_projection(const Subset& sample, const Vector& proxy, const Context& context) {
  const auto dim = static_cast<Index>(sample.dim());
  const Eigen::Map<const Matrix> theta(proxy.data(), dim, dim);
  const std::vector<Attended> attended = attended_tokens(sample, theta, context);
  const auto share = static_cast<std::size_t>(row_share * static_cast<double>(sample.rows()));
  const std::vector<std::size_t> rows =
      largest_margins(attended, std::max(rows_per_dim * sample.dim(), share));
  Matrix x(static_cast<Index>(rows.size()), dim);
  Matrix y(static_cast<Index>(rows.size()), dim);
  for (std::size_t s = 0; s < rows.size(); ++s) {
    const std::size_t n = rows[s] / sample.tokens();
    const std::size_t a = rows[s] % sample.tokens();
    x.row(static_cast<Index>(s)) = tokens_of(sample, n, n + 1).row(attended[rows[s]].token);
    y.row(static_cast<Index>(s)) =
        Eigen::Map<const Eigen::RowVectorXd>(sample.y(n) + a * sample.dim(), dim);
  }
  return geometric_median_regression(x, y, context);
}

}  // namespace onset::mha
