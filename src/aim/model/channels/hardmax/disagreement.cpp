#include "aim/model/channels/hardmax/disagreement.hpp"

#include <algorithm>
#include <boost/math/special_functions/owens_t.hpp>
#include <cmath>
#include <numbers>

namespace onset::aim {
namespace {

/// The trapezoidal rule in units of the standard deviations; it converges faster than any power of
/// the step, and misses less than 1e-14 at this one.
constexpr double rule_step = 0.25;
constexpr int rule_reach = 34;  // steps to either side: 8.5 standard deviations

/// The smallest angle whose share keeps enough of its digits.
constexpr double far_enough = 0.02;

double normal_cdf_of(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

/// The probability that two standard normals at an angle above 0 stay below h and k, by Owen's
/// function.
double below_both(double h, double k, double angle) {
  const double correlation = std::cos(angle);
  const double root = std::sin(angle);
  const auto part = [&](double x, double other) {
    if (x == 0.0) return other > 0.0 ? 0.25 : other < 0.0 ? -0.25 : 0.0;
    return boost::math::owens_t(x, (other - correlation * x) / (x * root));
  };
  if (h == 0.0 && k == 0.0) return 0.25 + std::asin(correlation) / (2.0 * std::numbers::pi);
  const bool apart = h * k < 0.0 || (h * k == 0.0 && h + k < 0.0);
  return 0.5 * (normal_cdf_of(h) + normal_cdf_of(k)) - part(h, k) - part(k, h) -
         (apart ? 0.5 : 0.0);
}

/// The other entries of a row, as one of them sees them.
struct Rivals {
  int equal = 0;       ///< have its own variance
  int different = 0;   ///< have another one
  double ratio = 1.0;  ///< its standard deviation over that of the different ones
};

/// The probability that one entry is the largest in both rows [aim 78].
double largest_in_both(const Rivals& rivals, double angle) {
  const double along = std::cos(0.5 * angle);
  const double across = std::sin(0.5 * angle);
  double sum = 0.0;
  for (int i = -rule_reach; i <= rule_reach; ++i) {
    for (int j = -rule_reach; j <= rule_reach; ++j) {
      const double s = rule_step * i;
      const double t = rule_step * j;
      const double h = along * s + across * t;
      const double k = along * s - across * t;
      double term = std::exp(-0.5 * (s * s + t * t));
      if (rivals.equal > 0) term *= std::pow(below_both(h, k, angle), rivals.equal);
      if (rivals.different > 0) {
        term *= std::pow(below_both(rivals.ratio * h, rivals.ratio * k, angle), rivals.different);
      }
      sum += term;
    }
  }
  return sum * rule_step * rule_step / (2.0 * std::numbers::pi);
}

double direct_disagreement(double angle, int tokens) {
  const double diagonal = largest_in_both({0, tokens - 1, std::numbers::sqrt2}, angle);
  const double other = largest_in_both({tokens - 2, 1, 1.0 / std::numbers::sqrt2}, angle);
  return std::clamp(1.0 - diagonal - (tokens - 1) * other, 0.0, 1.0);
}

/// Small angles, whose share is the difference of numbers near 1: share over angle is smooth, and
/// continued from angles whose shares have their digits, to 1e-9.
double near_disagreement(double angle, int tokens) {
  constexpr int nodes = 5;
  const auto place = [](int i) { return far_enough * (i + 1) / nodes; };
  double ratio = 0.0;
  for (int i = 0; i < nodes; ++i) {
    double weight = direct_disagreement(place(i), tokens) / place(i);
    for (int j = 0; j < nodes; ++j) {
      if (j != i) weight *= (angle - place(j)) / (place(i) - place(j));
    }
    ratio += weight;
  }
  return ratio * angle;
}

}  // namespace

double row_disagreement(double angle, int tokens) {
  if (tokens == 2) return angle / std::numbers::pi;
  if (angle == 0.0) return 0.0;
  if (angle >= std::numbers::pi) return 1.0;
  return angle < far_enough ? near_disagreement(angle, tokens) : direct_disagreement(angle, tokens);
}

}  // namespace onset::aim
