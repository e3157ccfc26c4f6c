#pragma once

namespace onset::aim {

/// Phi(x) of the standard normal distribution.
[[nodiscard]] double normal_cdf(double x);

/// log Phi(x) of the standard normal distribution, without underflow.
[[nodiscard]] double log_normal_cdf(double x);

/// The probability Phi2(k1, k2; c) that two standard normals of correlation c stay below k1 and k2,
/// and the relative rates (dPhi2/dk_i) / Phi2 at which it grows. Hardmax labels of two tokens need
/// them [aim 19].
struct Orthant {
  double probability = 0.0;
  double rate1 = 0.0;
  double rate2 = 0.0;
};

/// Computes it for |c| <= 1/2. Rates keep some ten digits however improbable the orthant is; the
/// probability itself is good to 1e-15 absolute and underflows to 0.
[[nodiscard]] Orthant orthant(double k1, double k2, double c);

}  // namespace onset::aim
