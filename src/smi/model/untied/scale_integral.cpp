#include "smi/model/untied/scale_integral.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace onset::smi {
namespace {

/// Steps in y: 0.7 standard deviations of a normal factor, which a trapezoid rule integrates to
/// e^-40, and no more than a quarter of the distance of y from the singularities at +-i, which
/// leaves e^-25.
constexpr double step_over_width = 0.5;
constexpr double max_step = 0.25;
/// The integrand is negligible where its logarithm is this far below the largest.
constexpr double negligible = 45.0;
/// Steps that look for the largest value, the longest of them in log t, and the gain in the
/// logarithm below which the place is near enough.
constexpr int climbing_steps = 100;
constexpr double longest_climb = 0.7;
constexpr double near_enough = 0.1;
/// The most steps to either side. A label of any prior that knows what it says takes some dozens.
constexpr int max_steps = 4000;

/// The integral over one sign; query and key are multiplied with it.
class OneSign {
 public:
  explicit OneSign(const ScalePrior& prior)
      : p_(prior),
        centre_(std::sqrt(prior.rho * std::sqrt(prior.query_variance / prior.key_variance))),
        step_(std::min(max_step, step_over_width * std::sqrt(std::sqrt(prior.query_variance *
                                                                       prior.key_variance) /
                                                             (2.0 * prior.rho)))) {}

  /// The logarithm of the integrand over log t.
  [[nodiscard]] double exponent(double t) const {
    const double d = t - p_.query;
    const double e = p_.rho / t - p_.key;
    return std::log(t) - 0.5 * d * d / p_.query_variance - 0.5 * e * e / p_.key_variance;
  }

  /// A place near the largest value: the best of some that are natural, and uphill from there.
  [[nodiscard]] double summit() const {
    const double by_query = p_.query > 0.0 ? p_.query : std::sqrt(p_.query_variance);
    const double by_key = p_.rho / (p_.key > 0.0 ? p_.key : std::sqrt(p_.key_variance));
    double best = centre_;
    for (const double t : {by_query, by_key, std::sqrt(by_query * by_key)}) {
      if (exponent(t) > exponent(best)) best = t;
    }
    double height = exponent(best);
    double share = 1.0;  // of a Newton step, halved where it leads downhill
    for (int k = 0; k < climbing_steps; ++k) {
      const double back = p_.rho / best;
      const double slope = 1.0 - best * (best - p_.query) / p_.query_variance +
                           back * (back - p_.key) / p_.key_variance;
      const double bend = best * (2.0 * best - p_.query) / p_.query_variance +
                          back * (2.0 * back - p_.key) / p_.key_variance;
      const double climb = slope / std::max(std::abs(bend), 1.0);
      const double next = best * std::exp(share * std::clamp(climb, -longest_climb, longest_climb));
      const double gain = exponent(next) - height;
      if (gain > 0.0) {
        best = next;
        height += gain;
      }
      if (share == 1.0 && std::abs(gain) < near_enough) break;
      share = gain > 0.0 ? 1.0 : 0.5 * share;
    }
    return best;
  }

  /// Adds the sums of weights exp(. - top), and of the moments of d and e, which the sign turns.
  void add(double from, double top, double sign, ScaleMoments& sums) const {
    const double first = std::sinh(std::log(from / centre_));
    for (const int direction : {1, -1}) {
      for (int k = direction > 0 ? 0 : 1; k < max_steps; ++k) {
        const double y = first + direction * k * step_;
        const double root = std::sqrt(1.0 + y * y);
        const double t = centre_ * (y > 0.0 ? y + root : 1.0 / (root - y));
        const double height = exponent(t) - top;
        if (height < -negligible) break;
        const double weight = step_ * std::exp(height) / root;
        const double d = t - p_.query;
        const double e = p_.rho / t - p_.key;
        sums.log_sum += weight;
        sums.query += sign * weight * d;
        sums.query_square += weight * d * d;
        sums.key += sign * weight * e;
        sums.key_square += weight * e * e;
      }
    }
  }

 private:
  ScalePrior p_;
  double centre_;
  double step_;
};

}  // namespace

ScaleMoments scale_moments(const ScalePrior& prior) {
  ScalePrior mirrored = prior;
  mirrored.query = -prior.query;
  mirrored.key = -prior.key;
  const OneSign plus(prior), minus(mirrored);
  const double at_plus = plus.summit(), at_minus = minus.summit();
  const double top_plus = plus.exponent(at_plus), top_minus = minus.exponent(at_minus);
  const double top = std::max(top_plus, top_minus);
  ScaleMoments sums;
  if (top_plus > top - negligible) plus.add(at_plus, top, 1.0, sums);
  if (top_minus > top - negligible) minus.add(at_minus, top, -1.0, sums);
  for (double* x : {&sums.query, &sums.query_square, &sums.key, &sums.key_square}) {
    *x /= sums.log_sum;
  }
  sums.log_sum = top + std::log(sums.log_sum);
  return sums;
}

}  // namespace onset::smi
