#pragma once

#include <cstddef>
#include <cstdint>

namespace onset::numerics::simd {

/// Largest count of box_muller().
inline constexpr std::size_t box_muller_block = 256;

/// 2 count single-precision normals from count draws of 64 bits (Box and Muller): words i and
/// count + i of the bits, read as 32-bit words, give out[i] and out[count + i]. Reaches 6.6
/// standard deviations; absolute accuracy 1e-6.
void box_muller(const std::uint64_t* bits, std::size_t count, float* out);

}  // namespace onset::numerics::simd
