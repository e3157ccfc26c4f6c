#pragma once

#include <cstddef>
#include <cstdint>

namespace onset::numerics::simd {

/// Pairs of normals by the transform of Box and Muller: out[i] and out[pairs + i] from the bits at
/// the same places, of which the first gives the radius and the second the angle. The lowest 12
/// bits of each are not used. Accurate to a few units in the last place; up to 8.6 standard
/// deviations.
void normal_pairs(const std::uint64_t* bits, std::size_t pairs, double* out);

}  // namespace onset::numerics::simd
