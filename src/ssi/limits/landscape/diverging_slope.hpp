#pragma once

#include <cmath>

#include "onset/core/estimate.hpp"

namespace onset::ssi {

/// Whether a slope in m diverges at m = +-1 like 1/q with q = sqrt(1 - m^2), from its values at a
/// small q and at twice as much: it then doubles, whereas a slope that exists there hardly changes.
/// The unsquared loss has such a cone where a fit is perfect, on part of the samples at least.
[[nodiscard]] inline bool diverges(const Estimate& near, const Estimate& far) {
  constexpr double more_than_smooth = 1.5;
  constexpr double sure_errors = 6.0;
  const double excess = std::abs(near.value) - more_than_smooth * std::abs(far.value);
  return excess > sure_errors * std::hypot(near.error, more_than_smooth * far.error);
}

}  // namespace onset::ssi
