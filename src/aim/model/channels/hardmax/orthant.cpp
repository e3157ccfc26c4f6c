#include "aim/model/channels/hardmax/orthant.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>
#include <utility>

namespace onset::aim {
namespace {

using Gauss = boost::math::quadrature::gauss<double, 30>;

const double log_root_2pi = 0.5 * std::log(2.0 * std::numbers::pi);

double log_density(double x) {
  return -0.5 * x * x - log_root_2pi;
}

/// Below this probability the sum of [aim 20] cancels too much.
constexpr double min_direct = 1e-7;

/// Computes [aim 20], the product of the margins plus an integral over the correlation.
double direct_probability(double h, double k, double c) {
  const auto f = [h, k](double angle) {
    const double s = std::sin(angle);
    return std::exp(-(h * h + k * k - 2.0 * h * k * s) / (2.0 * (1.0 - s * s)));
  };
  return normal_cdf(h) * normal_cdf(k) +
         Gauss::integrate(f, 0.0, std::asin(c)) / (2.0 * std::numbers::pi);
}

/// dPhi2/dh / Phi2 for h <= k far in the tail: one over an integral of a log-concave function that
/// falls from 1 [aim 21].
double tail_rate(double h, double k, double c) {
  const double root = std::sqrt(1.0 - c * c);
  const double a = (k - c * h) / root;
  const double b = c / root;
  const double log_start = log_normal_cdf(a);
  const double decay = -(h + b * std::exp(log_density(a) - log_start));
  constexpr double decay_reach = 32.0;  // e^-32 is left out
  const double end = std::min(decay_reach / std::max(decay, 1e-3), std::sqrt(2.0 * decay_reach));
  const auto f = [&](double s) {
    return std::exp(h * s - 0.5 * s * s + log_normal_cdf(a + b * s) - log_start);
  };
  return 1.0 / Gauss::integrate(f, 0.0, end);
}

/// Both rates, for h <= k.
std::pair<double, double> tail_rates(double h, double k, double c) {
  const double root = std::sqrt(1.0 - c * c);
  const double rate = tail_rate(h, k, c);
  const double log_ratio = log_density(k) + log_normal_cdf((h - c * k) / root) - log_density(h) -
                           log_normal_cdf((k - c * h) / root);
  return {rate, rate * std::exp(log_ratio)};
}

}  // namespace

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

double log_normal_cdf(double x) {
  constexpr double asymptotic_below = -25.0;
  if (x > asymptotic_below) return std::log(normal_cdf(x));
  const double y = 1.0 / (x * x);
  const double series = 1.0 - y * (1.0 - 3.0 * y * (1.0 - 5.0 * y * (1.0 - 7.0 * y)));
  return log_density(x) - std::log(-x) + std::log(series);
}

Orthant orthant(double k1, double k2, double c) {
  const double root = std::sqrt(1.0 - c * c);
  const double p = direct_probability(k1, k2, c);
  if (p > min_direct) {
    return {p, std::exp(log_density(k1)) * normal_cdf((k2 - c * k1) / root) / p,
            std::exp(log_density(k2)) * normal_cdf((k1 - c * k2) / root) / p};
  }
  const bool swap = k1 > k2;
  auto [low, high] = swap ? tail_rates(k2, k1, c) : tail_rates(k1, k2, c);
  if (swap) std::swap(low, high);
  return {std::max(p, 0.0), low, high};
}

}  // namespace onset::aim
