#include "aim/limits/erm/recovery.hpp"

#include <cmath>
#include <numbers>

#include "aim/limits/erm/cut_moments.hpp"
#include "aim/limits/root_between.hpp"

namespace onset::aim {
namespace {

using std::numbers::pi;
constexpr double recovery_tolerance = 1e-15;
/// Largest and smallest noise of the matrix, in logarithms: beyond them nothing changes.
constexpr double log_delta_reach = 60.0;

/// Mass, first and second moment of the unit semicircle above c.
struct SemicircleTail {
  double mass, first, second;
};

SemicircleTail semicircle_above(double c) {
  const double root = std::sqrt((2.0 - c) * (2.0 + c));
  return {0.5 - (0.25 * c * root + std::asin(0.5 * c)) / pi, root * root * root / (6.0 * pi),
          0.5 - (0.125 * c * (c * c - 2.0) * root + std::asin(0.5 * c)) / pi};
}

}  // namespace

double trace_recovery_cut(double rho) {
  const auto balance = [rho](double c) {
    const SemicircleTail tail = semicircle_above(c);
    return tail.first - c * tail.mass - c * rho / (1.0 - rho);
  };
  return root_between(balance, 0.0, 2.0, recovery_tolerance, "the cut at recovery").x;
}

double trace_recovery(double rho) {
  if (rho >= 1.0) return 1.0;
  const double c = trace_recovery_cut(rho);
  const SemicircleTail tail = semicircle_above(c);
  return 1.0 - (1.0 - rho) * (1.0 - rho) * (1.0 - tail.second + c * tail.first);
}

double trace_interpolation(double rho, double noise) {
  // s = delta (1 - Dv) - B at threshold 0 grows with delta.
  const auto missing = [rho, noise](double log_delta) {
    const double delta = std::exp(log_delta);
    const CutMoments c = cut_moments(rho, delta, 0.0);
    return delta * (1.0 - c.response) - c.below - noise;
  };
  const double log_delta = root_between(missing, -log_delta_reach, log_delta_reach,
                                        recovery_tolerance, "the interpolation threshold")
                               .x;
  return cut_moments(rho, std::exp(log_delta), 0.0).response;
}

}  // namespace onset::aim
