#include "aim/limits/flow/dynamics.hpp"

#include <cmath>

namespace onset::aim {

std::optional<double> alignment(const FlowModel& model, const StudentMoments& at) {
  constexpr double rounding = 1e-13;
  const double spread = at.scores.p - at.trace * at.trace;
  if (!(spread > rounding * at.scores.p)) return std::nullopt;
  return (at.scores.q - at.trace * std::sqrt(model.labels.rho)) / std::sqrt(spread);
}

}  // namespace onset::aim
