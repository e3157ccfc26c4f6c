#pragma once

#include <cstdint>
#include <span>

#include "numerics/random/stream.hpp"

namespace onset::numerics {

/// Exact chi-square variates of any whole number of degrees of freedom up to 1e15, made from
/// standard normals (Marsaglia and Tsang 2000, with a squeeze that nearly always decides).
///
/// An exact low-dimensional chain of SGD needs these besides its overlaps: the squared length of
/// the gradient outside their span is |delta|^2 times such a variate.
class ChiSquare {
 public:
  explicit ChiSquare(double degrees);

  /// Makes out[i] from normals[i] and the 12 lowest bits of bits[i] (see Stream::normal); the few
  /// that these do not decide draw from `spare`, in order. `out` may be `normals`.
  void sample(std::span<const double> normals, std::span<const std::uint64_t> bits, Stream& spare,
              std::span<double> out) const;

 private:
  [[nodiscard]] bool accepts(double x, double uniform) const;
  [[nodiscard]] double redraw(double x, double uniform, Stream& spare) const;
  double degrees_;
  double scale_;  ///< degrees/2 - 1/3
  double slope_;  ///< 1/sqrt(9 scale)
};

}  // namespace onset::numerics
