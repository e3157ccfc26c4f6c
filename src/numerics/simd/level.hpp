#pragma once

#include <string>

namespace onset::numerics::simd {

/// Pins the instruction set of every vector kernel of the library; "" goes back to what ONSET_SIMD
/// or the CPU says. It is for tests, and must not be called while kernels run. Throws
/// InvalidArgument.
void set_level(const std::string& name);

}  // namespace onset::numerics::simd
