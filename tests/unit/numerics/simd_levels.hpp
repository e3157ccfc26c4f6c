#pragma once

#include <functional>

#include "numerics/simd/level.hpp"
#include "numerics/simd/vector_math.hpp"

namespace onset::testing {

/// Runs the check once per SIMD level of this CPU.
inline void at_every_simd_level(const std::function<void(const std::string&)>& check) {
  for (const std::string& level : numerics::simd::supported_levels()) {
    numerics::simd::set_level(level);
    check(level);
  }
  numerics::simd::set_level("");
}

}  // namespace onset::testing
