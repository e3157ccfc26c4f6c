#pragma once

namespace onset::smi {

/// log Phi(k), Phi the standard normal distribution function, with full relative accuracy in both
/// tails.
[[nodiscard]] double log_normal_cdf(double k);

/// Mills' ratio R(c) = int_0^inf exp(-r^2/2 - r c) dr for c >= 0.
[[nodiscard]] double mills_ratio(double c);

/// int_0^inf r exp(-r^2/2 - r c) dr for c >= 0: 1 - c R(c) without its cancellation at
/// large c.
[[nodiscard]] double first_half_moment(double c);

/// A standard normal t given t > -k.
struct HalfLine {
  double log_mass;  ///< log Phi(k)
  double mean;
  double second;
};
[[nodiscard]] HalfLine half_line(double k);

}  // namespace onset::smi
