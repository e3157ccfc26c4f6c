#pragma once

#include <vector>

#include "mha/learners/sculpt/slabs.hpp"

namespace onset::mha {

/// A ratio of consecutive singular values that counts as a gap,
inline constexpr double min_gap = 3.0;
/// and one that is seen, though not enough for a certificate.
inline constexpr double visible_gap = 2.0;

/// The affine hull of the heads: base + span of directions.
struct Hull {
  Vector base;        ///< its point of least norm, dim^2
  Matrix directions;  ///< orthonormal rows, (heads - 1) x dim^2
};

/// Phase 4: the singular values of the weighted slabs, lifted by their centres. The heads (theta_i,
/// 1) span the right singular vectors of the smallest ones [mha 15].
class Spectrum {
 public:
  explicit Spectrum(const Body& body);

  /// ratios()[j - 1]: how far the j smallest singular values lie below the next.
  [[nodiscard]] const std::vector<double>& ratios() const { return ratios_; }
  /// The largest j with a visible gap, or the j of the largest ratio if there is none.
  [[nodiscard]] int heads() const;
  [[nodiscard]] double gap(int heads) const {
    return ratios_.at(static_cast<std::size_t>(heads - 1));
  }
  /// The smallest singular value relative to the largest; it is 0 to rounding only where slabs are
  /// exact.
  [[nodiscard]] double smallest() const { return smallest_; }
  /// A bound on the distance of (theta, scale) from the span of the `heads` smallest vectors, for
  /// every theta in the body inflated by `inflation` [mha 15].
  [[nodiscard]] double distance_bound(int heads, double inflation) const;
  /// The affine hull that the `heads` smallest singular vectors span.
  [[nodiscard]] Hull hull(int heads) const;

 private:
  double scale_ = 1.0;  // the scale of the lifted coordinate
  double smallest_ = 0.0;
  double width_ = 0.0;          // norm of the weighted tolerances
  std::vector<double> values_;  // values_[j - 1]: the singular value above the j smallest
  std::vector<double> ratios_;
  Matrix vectors_;  // one per row, smallest singular value first
};

/// Distance of a point from the hull.
[[nodiscard]] double distance(const Hull& hull, const Vector& point);

}  // namespace onset::mha
