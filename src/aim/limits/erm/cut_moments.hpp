#pragma once

namespace onset::aim {

/// Integrals over the part above a cut of the spectrum of R = S0 + sqrt(delta) GOE, S0 of width
/// ratio rho (NoisySpectrum), with f(x) = (x - cut)_+ [aim 84]. All are closed forms in one root of
/// the cubic [aim 8] and its logarithms [aim 87], good to some 1e-13; a microsecond or less.
struct CutMoments {
  double mass = 0.0;      ///< A0: share of eigenvalues above the cut
  double excess = 0.0;    ///< A1: mean of f
  double square = 0.0;    ///< I: mean of f^2
  double response = 0.0;  ///< Dv: mean divided difference of f
  double slope = 0.0;     ///< H = -d response / d cut
  /// d response / d delta.
  double response_slope = 0.0;
  /// B: mean of x^2 below the cut, by a form without cancellation [aim 88].
  double below = 0.0;
};

/// rho > 0, delta > 0, any cut. Cost: one Newton iteration for a real root, two logarithms.
[[nodiscard]] CutMoments cut_moments(double rho, double delta, double cut);

}  // namespace onset::aim
