#pragma once

#include <cstddef>
#include <vector>

namespace onset::ssi {

/// Interpolation nodes over the disk of (e, m), or over the segment e = 0: a function's value is
/// sum_i weights(e, m)[i] f(node i). Interpolation is polar: Chebyshev in the radius (with negative
/// radii, which mean the opposite side) and trigonometric in the angle. It converges spectrally for
/// smooth functions.
class OverlapNodes {
 public:
  /// How many nodes there are: all, or fewer of them, which show the error of interpolation.
  enum class Density { full, fewer };
  explicit OverlapNodes(bool positional, Density density = Density::full);
  struct Node {
    double e;
    double m;
  };
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] std::vector<double> weights(double e, double m) const;

 private:
  bool positional_;
  std::size_t angles_;
  std::vector<double> radii_;  ///< Chebyshev points of (-1, 1)
  std::vector<double> barycentric_;
  std::vector<Node> nodes_;
  [[nodiscard]] std::vector<double> radial_weights(double r) const;
  [[nodiscard]] double angle(std::size_t k) const;
  [[nodiscard]] double cardinal(double x) const;
};

}  // namespace onset::ssi
