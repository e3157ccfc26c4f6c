#pragma once

#include <cstddef>
#include <string>

#include "onset/core/error.hpp"

namespace onset::numerics::simd {

inline void require_same_size(std::size_t input, std::size_t output) {
  if (input == output) return;
  throw InvalidArgument("out", "has " + std::to_string(output) + " elements; must have " +
                                   std::to_string(input) + ", as many as the input");
}

}  // namespace onset::numerics::simd
