#include "ssi/limits/landscape/power_tail.hpp"

#include <cmath>
#include <utility>

namespace onset::ssi {
namespace {

/// s^(-p) = int t^(p-1) exp(-s t) dt / Gamma(p) by the trapezoidal rule in log t, whose error falls
/// exponentially with its step; what is left below the lowest log t is exp(log_t_low/2).
constexpr double log_t_low = -70.0;
constexpr double log_t_high = 4.0;
constexpr double log_t_step = 0.4;

template <typename Visit>
void for_each_decay(Visit visit) {
  const int count = static_cast<int>((log_t_high - log_t_low) / log_t_step);
  for (int j = 0; j <= count; ++j) visit(std::exp(log_t_low + j * log_t_step));
}

struct PowerLaw {
  double leading = 0.0;  ///< C
  double next = 0.0;     ///< D
};

/// Least squares of s^(5/2) a_s = C + D/s over the degrees of a parity above half of the last.
PowerLaw fitted_law(std::span<const double> a, std::size_t parity) {
  double count = 0.0;
  double x_sum = 0.0;
  double y_sum = 0.0;
  double xx_sum = 0.0;
  double xy_sum = 0.0;
  for (std::size_t s = a.size() / 2; s < a.size(); ++s) {
    if (s % 2 != parity) continue;
    const auto order = static_cast<double>(s);
    const double x = 1.0 / order;
    const double y = a[s] * order * order * std::sqrt(order);
    count += 1.0;
    x_sum += x;
    y_sum += y;
    xx_sum += x * x;
    xy_sum += x * y;
  }
  const double spread = count * xx_sum - x_sum * x_sum;
  if (!(spread > 0.0)) return {};
  const double next = (count * xy_sum - x_sum * y_sum) / spread;
  return {(y_sum - next * x_sum) / count, next};
}

}  // namespace

PowerTail::PowerTail(std::span<const double> coefficients) {
  for (std::size_t parity = 0; parity < 2; ++parity) {
    const PowerLaw law = fitted_law(coefficients, parity);
    const std::size_t first = coefficients.size() + (coefficients.size() % 2 == parity ? 0 : 1);
    const auto order = static_cast<double>(first);
    Parity part;
    part.power = static_cast<int>(first) - 1;
    for_each_decay([&](double t) {
      const double measure = log_t_step * std::pow(t, 1.5) * std::exp(-order * t);
      part.weights.push_back(measure *
                             (law.leading / std::tgamma(1.5) + t * law.next / std::tgamma(2.5)));
    });
    parities_.push_back(std::move(part));
  }
}

double PowerTail::slope(double m) const {
  double sum = 0.0;
  const double rest = (1.0 - m) * (1.0 + m);
  for (const Parity& part : parities_) {
    // The terms of a decay are a geometric series in m^2 exp(-2 t).
    double terms = 0.0;
    std::size_t j = 0;
    for_each_decay(
        [&](double t) { terms += part.weights[j++] / (rest - m * m * std::expm1(-2.0 * t)); });
    sum += std::pow(m, part.power) * terms;
  }
  return sum;
}

}  // namespace onset::ssi
