#include "mha/learners/hull/affine_hull.hpp"

#include <algorithm>
#include <cmath>

#include "mha/learners/six_phases.hpp"
#include "mha/linear_algebra/dense.hpp"
#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/linear_algebra/singular_values.hpp"

namespace onset::mha {
namespace {

/// This share of the median tolerance is added to every one, since tolerances far below the median
/// are not to be trusted that much.
constexpr double tolerance_floor = 0.3;
constexpr double rounding = 1e-15;
/// Centres are logits: below this they are not enlarged, so that rounding stays small.
constexpr double min_scale = 1e-4;

double median(Vector values) {
  double* middle = values.data() + values.size() / 2;
  std::nth_element(values.data(), middle, values.data() + values.size());
  return *middle;
}

}  // namespace

Spectrum::Spectrum(const Body& body) {
  const Index slabs = body.centre.size();
  const Index unknowns = body.normals.cols();
  scale_ = std::max(min_scale, body.centre.norm() / std::sqrt(static_cast<double>(slabs)));
  const double floor = tolerance_floor * median(body.tolerance) + rounding * std::max(1.0, scale_);
  const Vector weights = (body.tolerance.array() + floor).inverse();
  Matrix lifted(slabs, unknowns + 1);
  lifted.leftCols(unknowns) = weights.asDiagonal() * body.normals;
  lifted.col(unknowns) = -weights.cwiseProduct(body.centre) / scale_;
  std::vector<double> vectors;
  std::vector<double> values = numerics::singular_values(view(lifted), vectors);
  std::reverse(values.begin(), values.end());
  const auto last = static_cast<std::size_t>(unknowns);
  smallest_ = values[0] / values[last];
  width_ = weights.cwiseProduct(body.tolerance).norm();
  const auto most = std::min<std::size_t>(max_heads_found, last);
  for (std::size_t j = 1; j <= most; ++j) {
    values_.push_back(values[j]);
    ratios_.push_back(values[j] / std::max(values[j - 1], rounding * values[last]));
  }
  const Eigen::Map<const Matrix> decreasing(vectors.data(), unknowns + 1, unknowns + 1);
  vectors_ = decreasing.bottomRows(static_cast<Index>(most)).colwise().reverse();
}

int Spectrum::heads() const {
  for (std::size_t j = ratios_.size(); j > 0; --j) {
    if (ratios_[j - 1] >= visible_gap) return static_cast<int>(j);
  }
  return static_cast<int>(std::max_element(ratios_.begin(), ratios_.end()) - ratios_.begin()) + 1;
}

double Spectrum::distance_bound(int heads, double inflation) const {
  return inflation * width_ / values_.at(static_cast<std::size_t>(heads - 1));
}

Hull Spectrum::hull(int heads) const {
  const Index unknowns = vectors_.cols() - 1;
  const Matrix span = vectors_.topRows(heads);
  const Vector last = span.col(unknowns);
  Hull hull;
  hull.base = scale_ * (span.leftCols(unknowns).transpose() * last) / last.squaredNorm();
  hull.directions = Matrix(0, unknowns);
  if (heads > 1) {
    hull.directions = numerics::orthogonal_complement(last).transpose() * span.leftCols(unknowns);
    hull.base -= hull.directions.transpose() * (hull.directions * hull.base);
  }
  return hull;
}

double distance(const Hull& hull, const Vector& point) {
  const Vector off = point - hull.base;
  return (off - hull.directions.transpose() * (hull.directions * off)).norm();
}

}  // namespace onset::mha
