#include "mha/learners/refine/trimmed_refinement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mha/linear_algebra/dense.hpp"
#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/parallel.hpp"

namespace onset::mha {
namespace {

constexpr int max_rounds = 14;
constexpr double shrink = 0.7;
constexpr double stall = 0.99;
constexpr double ridge = 1e-6;
constexpr double min_weight = 1e-4;
constexpr std::size_t rows_per_unknown = 8;
/// The number of rows per unit of parallel work.
constexpr std::size_t row_chunk = 512;

/// Position of (i, j), i <= j, in a packed symmetric matrix of size dim.
Index packed(Index i, Index j, Index dim) {
  return i * dim - i * (i - 1) / 2 + (j - i);
}

/// Sums over some rows: sum (z z^T) x (Q) with both symmetric factors packed, and sum z rho^T.
struct Sums {
  Matrix hessian;
  Matrix right;
};

/// Rows far above the bar still count a little: the best rows alone may all attend to tokens of one
/// half space, and then w is free in the direction across it. The weight falls as the fourth power,
/// faster than the number of rows grows with their score for (m - 1)(k - 1) < 4.
double weight_of(double score, double bar) {
  const double ratio = score / std::max(bar, std::numeric_limits<double>::min());
  const double soft = 1.0 / (1.0 + ratio * ratio);
  return soft * soft;
}

/// A row and how much it counts.
struct WeightedRow {
  std::size_t row = 0;
  double weight = 1.0;
};

Sums sums_over(const Subset& sample, const Matrix& w, const WeightedRow* rows, std::size_t count) {
  const auto dim = static_cast<Index>(sample.dim());
  const auto tokens = static_cast<Index>(sample.tokens());
  const Index pairs = dim * (dim + 1) / 2;
  Matrix mixed(static_cast<Index>(count), pairs);
  Matrix projectors(static_cast<Index>(count), pairs);
  Sums sums{{}, Matrix::Zero(dim, dim)};
  RowFit row(sample.tokens(), sample.dim());
  for (std::size_t s = 0; s < count; ++s) {
    const std::size_t n = rows[s].row / sample.tokens();
    const std::size_t a = rows[s].row % sample.tokens();
    const Matrix x = tokens_of({sample.examples, {sample.index[n]}}, 0, 1);
    const Matrix outputs = x * w;
    row.set_example(outputs.data());
    row.fit(sample.y(n) + a * sample.dim());
    const Eigen::Map<const Vector> p(row.attention().data(), tokens);
    const Eigen::Map<const Vector> left(row.residual_vector().data(), dim);
    const Eigen::Map<const Matrix> basis(row.basis().data(), tokens - 1, dim);
    const Vector z = x.transpose() * p;
    const Vector weighted = rows[s].weight * z;
    const Matrix projector = Matrix::Identity(dim, dim) - basis.transpose() * basis;
    for (Index i = 0; i < dim; ++i) {
      for (Index j = i; j < dim; ++j) {
        mixed(static_cast<Index>(s), packed(i, j, dim)) = weighted[i] * z[j];
        projectors(static_cast<Index>(s), packed(i, j, dim)) = projector(i, j);
      }
    }
    sums.right.noalias() += weighted * left.transpose();
  }
  sums.hessian = mixed.transpose() * projectors;
  return sums;
}

/// The Gauss-Newton step: sum c z z^T step Q = sum c z rho^T, c the weights.
Matrix gauss_newton_step(const Subset& sample, const Matrix& w,
                         const std::vector<WeightedRow>& rows, const Context& context) {
  const auto dim = static_cast<Index>(sample.dim());
  std::vector<Sums> parts((rows.size() + row_chunk - 1) / row_chunk);
  numerics::parallel_for(context, parts.size(), [&](std::size_t block) {
    const std::size_t begin = block * row_chunk;
    parts[block] = sums_over(sample, w, &rows[begin], std::min(row_chunk, rows.size() - begin));
  });
  Sums total = parts.front();
  for (std::size_t b = 1; b < parts.size(); ++b) {
    total.hessian += parts[b].hessian;
    total.right += parts[b].right;
  }
  Matrix hessian(dim * dim, dim * dim);
  for (Index c = 0; c < dim; ++c) {
    for (Index o = 0; o < dim; ++o) {
      for (Index c2 = 0; c2 < dim; ++c2) {
        for (Index o2 = 0; o2 < dim; ++o2) {
          hessian(c * dim + o, c2 * dim + o2) =
              total.hessian(packed(std::min(c, c2), std::max(c, c2), dim),
                            packed(std::min(o, o2), std::max(o, o2), dim));
        }
      }
    }
  }
  hessian.diagonal().array() += ridge * hessian.trace() / static_cast<double>(dim * dim);
  const Eigen::Map<const Vector> right(total.right.data(), dim * dim);
  const Vector step = numerics::solve_symmetric(hessian, right);
  return Eigen::Map<const Matrix>(step.data(), dim, dim);
}

double largest(const std::vector<double>& scores, const std::vector<std::size_t>& rows) {
  double most = 0.0;
  for (const std::size_t r : rows) most = std::max(most, scores[r]);
  return most;
}

/// The score of the `count`-th best row; infinite where there are fewer.
double score_at(const std::vector<double>& scores, std::size_t count) {
  const std::vector<std::size_t> rows = smallest_rows(scores, count);
  return rows.size() < count ? std::numeric_limits<double>::infinity() : largest(scores, rows);
}

}  // namespace

std::size_t trimmed_rows(const Subset& sample) {
  return rows_per_unknown * sample.dim() * sample.dim() / (sample.tokens() - 1);
}

double nth_score(const Subset& sample, const Matrix& w, const Context& context) {
  return score_at(row_scores(sample, w, context), trimmed_rows(sample));
}

Projection refine_trimmed(const Subset& sample, const Matrix& start, double share,
                          const Context& context) {
  const std::size_t fewest = trimmed_rows(sample);
  const auto widest =
      std::max(fewest, static_cast<std::size_t>(share * static_cast<double>(sample.rows())));
  std::size_t count = widest;
  Projection best{start, std::numeric_limits<double>::infinity()};
  Matrix w = start;
  double last = std::numeric_limits<double>::infinity();
  for (int round = 0; round <= max_rounds; ++round) {
    const std::vector<double> scores = row_scores(sample, w, context);
    const double score = score_at(scores, fewest);
    if (score < best.score) best = {w, score};
    const bool at_end = count == fewest;
    if (round == max_rounds || (at_end && score > stall * last)) break;
    last = at_end ? score : last;
    const std::vector<std::size_t> candidates = smallest_rows(scores, widest);
    if (candidates.size() < fewest) break;
    const double bar = largest(scores, smallest_rows(scores, count));
    std::vector<WeightedRow> rows;
    for (const std::size_t row : candidates) {
      if (const double weight = weight_of(scores[row], bar); weight > min_weight) {
        rows.push_back({row, weight});
      }
    }
    w += gauss_newton_step(sample, w, rows, context);
    count = std::max(fewest, static_cast<std::size_t>(shrink * static_cast<double>(count)));
  }
  return best;
}

}  // namespace onset::mha
