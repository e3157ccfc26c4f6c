#pragma once

#include "onset/aim/model/choices.hpp"
#include "onset/core/estimate.hpp"

namespace onset::aim {

/// What a penalty leaves of R = S0 + sqrt(delta) GOE: eigenvalues f(x) = (x - threshold)_+ for the
/// trace, and sign(x) (|x| - threshold)_+ for the nuclear norm [aim 84, 85]. The trained matrix is
/// `scale` times it.
struct ShrunkSpectrum {
  double rank = 0.0;      ///< share of eigenvalues that are not 0
  double trace = 0.0;     ///< mean of f
  double absolute = 0.0;  ///< mean of |f|
  double square = 0.0;    ///< mean of f^2
  double response = 0.0;  ///< mean divided difference of f
  double error = 0.0;     ///< ||S0 - f(R)||_F^2 / d, without cancellation [aim 88]
  /// Derivatives that Newton's method and the best threshold need.
  double error_by_threshold = 0.0;
  double error_by_delta = 0.0;

  /// Tr(S0 f(R))/d, from the error.
  [[nodiscard]] double overlap(double second_moment) const {
    return 0.5 * (second_moment + square - error);
  }
};

/// For trace and nuclear; threshold >= 0. A microsecond, two for nuclear.
[[nodiscard]] ShrunkSpectrum shrunk_spectrum(Penalty penalty, double rho, double delta,
                                             double threshold);

/// The mean squared divided difference of f, a double integral over the spectrum by Gauss rules
/// [aim 89]; it decides whether the solution is stable. Error: twice the difference of two rules,
/// large where the density has a dip. A tenth of a millisecond.
[[nodiscard]] Estimate squared_difference(Penalty penalty, double rho, double delta,
                                          double threshold);

/// Right edge of the spectrum of R, above which a threshold leaves nothing.
[[nodiscard]] double right_edge(double rho, double delta);

}  // namespace onset::aim
