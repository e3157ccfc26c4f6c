#include "smi/model/links/norm_link.hpp"

#include <algorithm>
#include <numbers>

namespace onset::smi {
namespace {

// The trapezoid rule on the circle has an error of about exp(-N^2 / 2 kappa): the step is this part
// of the width 1 / sqrt(kappa), and never more than a `coarsest`-th of the circle.
constexpr double step_in_widths = 0.45;
constexpr double coarsest = 32.0;
// Beyond this many widths the weight is below rounding.
constexpr double reach_in_widths = 9.5;

// Averages with the weight exp(kappa cos(angle) - kappa): of 1 (the integral over 2 pi), 1 - cos
// and (1 - cos)^2.
struct AngleMoments {
  double mass = 0.0;
  double lag = 0.0;
  double lag_squared = 0.0;
};

AngleMoments angle_moments(double kappa) {
  const double width = 1.0 / std::sqrt(std::fmax(kappa, 1e-300));
  const double nodes =
      std::fmax(coarsest, std::ceil(2.0 * std::numbers::pi / (step_in_widths * width)));
  const double step = 2.0 * std::numbers::pi / nodes;
  const double last = std::fmin(std::floor(nodes / 2.0), std::ceil(reach_in_widths * width / step));
  AngleMoments sum;
  for (double k = 0.0; k <= last; k += 1.0) {
    const double half_sine = std::sin(0.5 * k * step);
    const double lag = 2.0 * half_sine * half_sine;  // 1 - cos, without its cancellation
    const bool own_mirror = k == 0.0 || 2.0 * k == nodes;
    const double weight = (own_mirror ? 1.0 : 2.0) * std::exp(-kappa * lag);
    sum.mass += weight;
    sum.lag += weight * lag;
    sum.lag_squared += weight * lag * lag;
  }
  sum.lag /= sum.mass;
  sum.lag_squared /= sum.mass;
  sum.mass /= nodes;
  return sum;
}

}  // namespace

double NormLink::posterior(std::span<const double> label, std::span<const double> omega,
                           std::span<const double> variance, std::span<double> mean,
                           std::span<double> second) {
  const double radius = label[0];
  const double centre = std::hypot(omega[0], omega[1]);
  const double deviation = std::sqrt(variance[0]);
  const double gap = (radius - centre) / deviation;
  const double length = radius / deviation;
  const AngleMoments angle = angle_moments(length * (centre / deviation));
  // Along omega zeta is gap - length (1 - cos), across it is length sin.
  const double along = gap - length * angle.lag;
  const double along_squared =
      gap * gap - 2.0 * gap * length * angle.lag + length * length * angle.lag_squared;
  const double across_squared = length * length * (2.0 * angle.lag - angle.lag_squared);
  const double c = centre > 0.0 ? omega[0] / centre : 1.0;
  const double s = centre > 0.0 ? omega[1] / centre : 0.0;
  mean[0] = along * c;
  mean[1] = along * s;
  second[0] = c * c * along_squared + s * s * across_squared;
  second[1] = c * s * (along_squared - across_squared);
  second[2] = s * s * along_squared + c * c * across_squared;
  return std::log(radius * angle.mass / variance[0]) - 0.5 * gap * gap;
}

}  // namespace onset::smi
