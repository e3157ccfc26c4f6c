#include "onset/numerics/chebyshev.hpp"

#include <cmath>
#include <numbers>

namespace onset::numerics {
namespace {

double angle(std::size_t i, std::size_t n) {
  return std::numbers::pi * (static_cast<double>(n - 1 - i) + 0.5) / static_cast<double>(n);
}

}  // namespace

std::vector<double> chebyshev_points(std::size_t n) {
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = std::cos(angle(i, n));
  return x;
}

std::vector<double> chebyshev_coefficients(std::span<const double> values) {
  const std::size_t n = values.size();
  std::vector<double> a(n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      a[j] += values[i] * std::cos(static_cast<double>(j) * angle(i, n));
    }
    a[j] *= (j == 0 ? 1.0 : 2.0) / static_cast<double>(n);
  }
  return a;
}

ChebyshevBasis chebyshev_basis(double x, std::size_t n) {
  ChebyshevBasis b{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  for (std::size_t j = 0; j < n; ++j) {
    if (j < 2) {
      b.value[j] = j == 0 ? 1.0 : x;
      b.slope[j] = static_cast<double>(j);
      continue;
    }
    b.value[j] = 2.0 * x * b.value[j - 1] - b.value[j - 2];
    b.slope[j] = 2.0 * b.value[j - 1] + 2.0 * x * b.slope[j - 1] - b.slope[j - 2];
    b.curvature[j] = 4.0 * b.slope[j - 1] + 2.0 * x * b.curvature[j - 1] - b.curvature[j - 2];
  }
  return b;
}

}  // namespace onset::numerics
