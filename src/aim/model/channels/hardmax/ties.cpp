#include <cmath>
#include <functional>
#include <numbers>

#include "aim/model/channels/hardmax/information.hpp"

namespace onset::aim {
namespace {

double cdf(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}
double density(double x, double variance) {
  return std::exp(-0.5 * x * x / variance) / std::sqrt(2.0 * std::numbers::pi * variance);
}

/// The trapezoid rule, which is exact to rounding for smooth functions that die out.
double integral(const std::function<double(double)>& f) {
  constexpr double step = 1.0 / 16.0;
  double sum = 0.0;
  for (int i = -256; i <= 256; ++i) sum += f(step * i);
  return step * sum;
}

}  // namespace

double hardmax_tie_constant(int tokens) {
  const double others = tokens - 2.0;
  const double mills = integral([](double k) { return std::pow(density(k, 1.0), 2) / cdf(k); });
  const double with_diagonal = integral(
      [others](double x) { return density(x, 2.0) * density(x, 1.0) * std::pow(cdf(x), others); });
  const double without = tokens < 3 ? 0.0 : integral([others](double x) {
    return std::pow(density(x, 1.0), 2) * std::pow(cdf(x), others - 1.0) *
           cdf(x / std::numbers::sqrt2);
  });
  const double pairs = (tokens - 1.0) * std::numbers::sqrt3 * with_diagonal +
                       0.5 * (tokens - 1.0) * others * std::numbers::sqrt2 * without;
  return 2.0 * mills * tokens * pairs;
}

}  // namespace onset::aim
