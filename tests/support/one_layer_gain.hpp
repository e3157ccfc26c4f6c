#pragma once

#include <cmath>
#include <numbers>

namespace onset::testing {

/// r = M - E[rho^2 (1 - tanh x)] / V of one layer, x = (Q rho^2 + rho sqrt(Q V) xi) / V.
///
/// Given omega and h = +-z*, the posterior sits on z = +-h with odds exp(2 h.omega / V), so that
/// tr Cov(zeta) = rho^2 (1 - tanh^2 x) / V, x = z*.omega / V; and E tanh^2 x = E tanh x, since x
/// has the law of a signal under its own posterior. Given z*, omega ~ N(Q z*, Q V I). Trapezoid in
/// log rho and in xi; the step in xi follows the poles of tanh.
inline double one_layer_gain(int tokens, double v) {
  const double q = 1.0 - v;
  const double log_norm = (1.0 - 0.5 * tokens) * std::numbers::ln2 - std::lgamma(0.5 * tokens);
  constexpr double log_step = 0.05;
  double sum = 0.0;
  for (double t = -12.0; t < std::log(12.0); t += log_step) {
    const double rho = std::exp(t);
    const double slope = rho * std::sqrt(q / v);
    const double step = std::fmin(0.2, 0.25 / slope);
    double inner = 0.0;
    for (double xi = -9.0; xi < 9.0; xi += step) {
      const double density = std::exp(-0.5 * xi * xi) / std::sqrt(2.0 * std::numbers::pi);
      // 1 - tanh x = 2 / (1 + exp 2x): no cancellation.
      inner += step * density * 2.0 / (1.0 + std::exp(2.0 * (q * rho * rho / v + slope * xi)));
    }
    sum += log_step * std::exp(log_norm + tokens * t - 0.5 * rho * rho) * rho * rho * inner;
  }
  return tokens - sum / v;
}

}  // namespace onset::testing
