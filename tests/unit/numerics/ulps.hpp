#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace onset::testing {

/// Distance from a reference in units of the last place of the double nearest to it; for subnormal
/// references, of the smallest double.
inline double ulps(double value, long double reference) {
  const double nearest = static_cast<double>(reference);
  if (value == nearest || (std::isnan(value) && std::isnan(nearest))) return 0.0;
  if (!std::isfinite(value) || !std::isfinite(nearest)) {
    return std::numeric_limits<double>::infinity();
  }
  int exponent = 0;
  std::frexp(nearest, &exponent);
  const long double unit = std::ldexp(1.0L, std::max(exponent - 53, -1074));
  return static_cast<double>(std::fabs(value - reference) / unit);
}

}  // namespace onset::testing
