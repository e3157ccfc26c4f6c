#pragma once

#include <cstdint>

namespace onset::numerics {

// The published constants of Philox4x32.
inline constexpr std::uint32_t philox_multiplier0 = 0xD2511F53;
inline constexpr std::uint32_t philox_multiplier1 = 0xCD9E8D57;
inline constexpr std::uint32_t philox_weyl0 = 0x9E3779B9;
inline constexpr std::uint32_t philox_weyl1 = 0xBB67AE85;
inline constexpr int philox_rounds = 10;

/// Encrypts the four counter words in place. Static: each file gets a copy of its own, so that none
/// compiled for a special instruction set can be linked into another.
static constexpr void philox_block(std::uint32_t* words, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < philox_rounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{philox_multiplier0} * words[0];
    const std::uint64_t product1 = std::uint64_t{philox_multiplier1} * words[2];
    words[0] = static_cast<std::uint32_t>(product1 >> 32) ^ words[1] ^ key0;
    words[1] = static_cast<std::uint32_t>(product1);
    words[2] = static_cast<std::uint32_t>(product0 >> 32) ^ words[3] ^ key1;
    words[3] = static_cast<std::uint32_t>(product0);
    key0 += philox_weyl0;
    key1 += philox_weyl1;
  }
}

}  // namespace onset::numerics
