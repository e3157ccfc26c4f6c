#include "aim/limits/erm/student.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aim/limits/erm/shrunk_spectrum.hpp"

namespace onset::aim {
namespace {

double over_stiffness(double response, double stiffness) {
  return stiffness > 0.0 ? response / stiffness : std::numeric_limits<double>::infinity();
}

/// Nothing is shrunk to 0: S = scale R [aim 85].
StudentAtMinimum ridge_student(double rho, double delta, double scale, double stiffness) {
  const double q0 = 1.0 + rho;
  StudentAtMinimum s;
  s.overlaps = {scale * scale * (q0 + delta), scale * q0, over_stiffness(1.0, stiffness),
                q0 * delta / (q0 + delta)};
  s.mse = q0 * (1.0 - scale) * (1.0 - scale) + scale * scale * delta;
  s.trace = scale * std::sqrt(rho);
  s.penalty = s.overlaps.norm;
  s.rank = 1.0;
  s.delta = delta;
  s.scale = scale;
  s.stiffness = stiffness;
  return s;
}

/// Q0 - J^2/I = E - (I - J)^2/I, whose terms are both small where little is left open [aim 109].
double unexplained_by(const ShrunkSpectrum& f, double q0) {
  if (f.square == 0.0) return q0;
  const double along = 0.5 * (f.square - q0 + f.error);  // I - J
  return std::clamp(f.error - along * along / f.square, 0.0, q0);
}

/// What a threshold within rounding of the edge leaves has no digits, and counts as nothing.
ShrunkSpectrum resolved_spectrum(const PenaltyTerm& penalty, double delta, double threshold) {
  constexpr double rounding = 1e-15;  // of the whole second moment
  const double q0 = 1.0 + penalty.rho;
  const ShrunkSpectrum f = shrunk_spectrum(penalty.kind, penalty.rho, delta, threshold);
  return f.square > rounding * (q0 + delta) ? f : ShrunkSpectrum{.error = q0};
}

}  // namespace

StudentAtMinimum student_at(const PenaltyTerm& penalty, double delta, double threshold,
                            double scale, double stiffness) {
  if (penalty.kind == Penalty::ridge) {
    return ridge_student(penalty.rho, delta, scale, stiffness);
  }
  const double q0 = 1.0 + penalty.rho;
  const ShrunkSpectrum f = resolved_spectrum(penalty, delta, threshold);
  const double overlap = f.overlap(q0);
  StudentAtMinimum s;
  s.overlaps = {scale * scale * f.square, scale * overlap, over_stiffness(f.response, stiffness),
                unexplained_by(f, q0)};
  s.mse = f.error + (1.0 - scale) * (2.0 * overlap - (1.0 + scale) * f.square);
  s.trace = scale * f.trace;
  s.penalty = scale * f.absolute;
  s.rank = f.rank;
  s.delta = delta;
  s.threshold = threshold;
  s.scale = scale;
  s.stiffness = stiffness;
  return s;
}

StudentAtMinimum student_of(const PenaltyTerm& penalty, const Conjugates& hats) {
  const double stiffness = hats.chi + (penalty.kind == Penalty::ridge ? 4.0 * penalty.decay : 0.0);
  return student_at(penalty, hats.norm / (hats.overlap * hats.overlap),
                    2.0 * penalty.decay / hats.overlap, hats.overlap / stiffness, stiffness);
}

}  // namespace onset::aim
