#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace onset::numerics {

/// The n Chebyshev points of the first kind in (-1, 1), increasing.
[[nodiscard]] std::vector<double> chebyshev_points(std::size_t n);

/// Coefficients a_j of sum_j a_j T_j through values at chebyshev_points(values.size()).
[[nodiscard]] std::vector<double> chebyshev_coefficients(std::span<const double> values);

/// T_j(x) and its first two derivatives, j = 0, .., n - 1; x may lie a little outside [-1, 1].
struct ChebyshevBasis {
  std::vector<double> value;
  std::vector<double> slope;
  std::vector<double> curvature;
};
[[nodiscard]] ChebyshevBasis chebyshev_basis(double x, std::size_t n);

/// A polynomial on [low, high] through the values at the n + 1 extrema of the Chebyshev polynomial
/// of degree n: for analytic functions the error falls like a geometric series.
class ChebyshevSeries {
 public:
  /// The points at which values are wanted, increasing, ends included; degree >= 2.
  [[nodiscard]] static std::vector<double> nodes(double low, double high, int degree);

  ChebyshevSeries(double low, double high, std::span<const double> values);

  [[nodiscard]] double operator()(double x) const;
  /// The sum of the sizes of the last three coefficients: a rough upper bound on what was cut off.
  [[nodiscard]] double tail() const;

 private:
  double low_;
  double high_;
  std::vector<double> coefficients_;
};

}  // namespace onset::numerics
