#include "numerics/quadrature/chebyshev.hpp"

#include <cmath>
#include <numbers>

#include "onset/core/error.hpp"

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

std::vector<double> ChebyshevSeries::nodes(double low, double high, int degree) {
  if (degree < 2) throw InvalidArgument("degree", "allowed: 2 or more");
  std::vector<double> x;
  for (int i = 0; i <= degree; ++i) {
    // With sin^2 instead of cos both ends are hit exactly.
    const double s = std::sin(0.5 * std::numbers::pi * i / degree);
    x.push_back(low + (high - low) * s * s);
  }
  return x;
}

ChebyshevSeries::ChebyshevSeries(double low, double high, std::span<const double> values)
    : low_(low), high_(high) {
  if (values.size() < 3) throw InvalidArgument("values", "allowed: 3 or more");
  const auto n = values.size() - 1;
  for (std::size_t k = 0; k <= n; ++k) {
    double sum = 0.0;
    for (std::size_t i = 0; i <= n; ++i) {
      const double weight = i == 0 || i == n ? 0.5 : 1.0;
      const double angle = std::numbers::pi * static_cast<double>(k * i) / static_cast<double>(n);
      sum += weight * std::cos(angle) * values[n - i];
    }
    coefficients_.push_back((k == 0 || k == n ? 1.0 : 2.0) * sum / static_cast<double>(n));
  }
}

double ChebyshevSeries::operator()(double x) const {
  const double y = (2.0 * x - low_ - high_) / (high_ - low_);
  double b1 = 0.0;
  double b2 = 0.0;
  for (std::size_t k = coefficients_.size(); k-- > 1;) {
    const double b = coefficients_[k] + 2.0 * y * b1 - b2;
    b2 = b1;
    b1 = b;
  }
  return coefficients_[0] + y * b1 - b2;
}

double ChebyshevSeries::tail() const {
  double sum = 0.0;
  for (std::size_t k = coefficients_.size() - 3; k < coefficients_.size(); ++k) {
    sum += std::abs(coefficients_[k]);
  }
  return sum;
}

}  // namespace onset::numerics
