#include "aim/limits/flow/stability.hpp"

#include <cmath>
#include <limits>

namespace onset::aim {

double max_stable_rate(const FlowModel& model, const Risk& risk) {
  const Risk::NoiseGrowth growth = risk.noise_growth();
  if (!(growth.symmetric > 0.0)) return std::numeric_limits<double>::infinity();
  const double norm = model.teacher_norm();
  const Drift drift = risk.drift({.p = norm, .q = norm});
  const double root = std::sqrt(model.labels.rho);
  switch (model.student) {
    case Student::direct: return 2.0 * drift.symmetric / growth.symmetric;
    case Student::tied: return drift.symmetric / (2.0 * root * growth.symmetric);
    case Student::untied: break;
  }
  // Symmetric and antisymmetric errors feed each other's noise: the largest eigenvalue of two.
  const double a = growth.symmetric / drift.symmetric;
  if (!(drift.antisymmetric > 0.0)) return 1.0 / (root * a);
  const double d = growth.antisymmetric / drift.antisymmetric;
  const double bc = growth.mixed * growth.mixed / (drift.symmetric * drift.antisymmetric);
  const double largest = 0.5 * (a + d + std::sqrt((a - d) * (a - d) + 4.0 * bc));
  return 1.0 / (root * largest);
}

}  // namespace onset::aim
