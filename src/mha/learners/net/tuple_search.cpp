#include "mha/learners/net/tuple_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mha/linear_algebra/dense.hpp"
#include "numerics/linear_algebra/dense.hpp"
#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/parallel.hpp"

namespace onset::mha {
namespace {

constexpr std::size_t max_pairs = 40'000;
constexpr std::size_t extended_pairs = 30;
constexpr int max_exchanges = 12;
constexpr double ridge = 1e-13;

void keep_best(std::vector<Tuple>& tuples, std::size_t count) {
  std::stable_sort(tuples.begin(), tuples.end(),
                   [](const Tuple& a, const Tuple& b) { return a.residual < b.residual; });
  const auto same = [](const Tuple& a, const Tuple& b) { return a.points == b.points; };
  tuples.erase(std::unique(tuples.begin(), tuples.end(), same), tuples.end());
  if (tuples.size() > count) tuples.resize(count);
}

}  // namespace

TupleSearch::TupleSearch(const Subset& sample, const std::vector<Vector>& points,
                         const Context& context)
    : dim_(static_cast<Index>(sample.dim())), points_(points.size()) {
  Matrix features(static_cast<Index>(sample.rows()), dim_ * static_cast<Index>(points.size()));
  numerics::parallel_for(context, points.size(), [&](std::size_t i) {
    features.middleCols(static_cast<Index>(i) * dim_, dim_) =
        head_features(sample, points[i]).mixed;
  });
  const Matrix y = labels_of(sample, 0, sample.size());
  total_ = y.squaredNorm();
  gram_.resize(features.cols(), features.cols());
  right_.resize(features.cols(), dim_);
  numerics::transpose_multiply(view(features), view(features),
                               {gram_.data(), static_cast<std::size_t>(gram_.size())}, context);
  numerics::transpose_multiply(view(features), view(y),
                               {right_.data(), static_cast<std::size_t>(right_.size())}, context);
}

double TupleSearch::residual(const std::vector<std::size_t>& points) const {
  const auto heads = static_cast<Index>(points.size());
  Eigen::MatrixXd gram(heads * dim_, heads * dim_);
  Eigen::MatrixXd right(heads * dim_, dim_);
  for (Index i = 0; i < heads; ++i) {
    const Index row = static_cast<Index>(points[static_cast<std::size_t>(i)]) * dim_;
    right.middleRows(i * dim_, dim_) = right_.middleRows(row, dim_);
    for (Index j = 0; j < heads; ++j) {
      gram.block(i * dim_, j * dim_, dim_, dim_) = gram_.block(
          row, static_cast<Index>(points[static_cast<std::size_t>(j)]) * dim_, dim_, dim_);
    }
  }
  gram.diagonal() *= 1.0 + ridge;
  const double explained = numerics::explained_square(gram, right);
  return explained < 0.0 ? 1.0 : std::sqrt(std::max(0.0, 1.0 - explained / total_));
}

std::vector<Tuple> TupleSearch::best_pairs(std::size_t count, const Context& context) const {
  const std::size_t pairs = points_ * (points_ - 1) / 2;
  const std::size_t stride = (pairs + max_pairs - 1) / max_pairs;
  std::vector<std::vector<Tuple>> found(points_);
  numerics::parallel_for(context, points_, [&](std::size_t i) {
    for (std::size_t j = i + 1; j < points_; ++j) {
      if ((i + j) % stride == 0) found[i].push_back({{i, j}, residual({i, j})});
    }
    keep_best(found[i], count);
  });
  tried_ += pairs / stride;
  std::vector<Tuple> all;
  for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
  keep_best(all, count);
  return all;
}

Tuple TupleSearch::fill(const Tuple& tuple, std::size_t slot, const Context& context) const {
  std::vector<double> residuals(points_, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> start = tuple.points;
  if (slot == start.size()) start.push_back(points_);
  numerics::parallel_for(context, points_, [&](std::size_t p) {
    if (std::find(start.begin(), start.end(), p) != start.end()) return;
    std::vector<std::size_t> points = start;
    points[slot] = p;
    residuals[p] = residual(points);
  });
  tried_ += points_;
  const auto best = std::min_element(residuals.begin(), residuals.end()) - residuals.begin();
  start[slot] = static_cast<std::size_t>(best);
  return {start, residuals[start[slot]]};
}

std::vector<Tuple> TupleSearch::best(int heads, std::size_t count, const Context& context) const {
  tried_ = 0;
  if (heads == 2) return best_pairs(count, context);
  std::vector<Tuple> found;
  for (Tuple tuple : best_pairs(extended_pairs, context)) {
    while (tuple.points.size() < static_cast<std::size_t>(heads)) {
      tuple = fill(tuple, tuple.points.size(), context);
    }
    found.push_back(std::move(tuple));
  }
  keep_best(found, 2 * count);
  for (Tuple& tuple : found) {
    bool better = true;
    for (int round = 0; better && round < max_exchanges; ++round) {
      better = false;
      for (std::size_t slot = 0; slot < tuple.points.size(); ++slot) {
        const Tuple changed = fill(tuple, slot, context);
        if (changed.residual < tuple.residual) {
          tuple = changed;
          better = true;
        }
      }
    }
    std::sort(tuple.points.begin(), tuple.points.end());
  }
  keep_best(found, count);
  return found;
}

}  // namespace onset::mha
