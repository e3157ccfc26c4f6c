#pragma once

#include <functional>

#include "numerics/simd/level.hpp"
#include "numerics/simd/vector_math.hpp"
#include "support/sanitized.hpp"

namespace onset::testing {

/// Runs the check once per SIMD level of this CPU. Highway's emulated level makes integers of NaN,
/// which the processors define and the language does not: sanitizers stop there.
inline void at_every_simd_level(const std::function<void(const std::string&)>& check) {
  for (const std::string& level : numerics::simd::supported_levels()) {
    if (sanitized && level == "EMU128") continue;
    numerics::simd::set_level(level);
    check(level);
  }
  numerics::simd::set_level("");
}

}  // namespace onset::testing
