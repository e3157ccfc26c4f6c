#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace onset::numerics::simd {

/// Philox4x32-10 blocks whose counters are (first + i, counter1, counter2, counter3), two 64-bit
/// words each: out[2 i] is made of words 0 (low) and 1, out[2 i + 1] of words 2 and 3.
struct PhiloxBlocks {
  std::uint32_t key0, key1;
  std::uint32_t counter1, counter2, counter3;
  void fill(std::uint32_t first, std::size_t blocks, std::uint64_t* out) const;
};

/// Takes the upper 52 bits plus half a unit, which is uniform, strictly inside (0, 1) and symmetric
/// about 1/2.
void to_unit_interval(std::span<const std::uint64_t> bits, std::span<double> out);

}  // namespace onset::numerics::simd
