#pragma once

#include <span>
#include <vector>

namespace onset::numerics {

/// A polynomial on [low, high] through the values at the n + 1 extrema of the Chebyshev polynomial
/// of degree n: for analytic functions the error falls like a geometric series.
class ChebyshevSeries {
 public:
  /// The points at which values are wanted, increasing, ends included; degree >= 2.
  [[nodiscard]] static std::vector<double> nodes(double low, double high, int degree);

  ChebyshevSeries(double low, double high, std::span<const double> values);

  [[nodiscard]] double operator()(double x) const;
  /// The sizes of the last three coefficients together: about what was cut off, or more.
  [[nodiscard]] double tail() const;

 private:
  double low_;
  double high_;
  std::vector<double> coefficients_;
};

}  // namespace onset::numerics
