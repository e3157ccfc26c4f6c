#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace onset::numerics {

/// Normals for simulations that need very many of them in order. It is several times as fast as
/// Stream and has no end, but only moves forwards. Like Stream, it is keyed by (seed, purpose,
/// index).
///
/// Eight copies of xoshiro256+ (Blackman and Vigna 2021: for floating-point numbers, made of the
/// upper bits), period 2^256 - 1, whose states are the first draws of the Stream with the same key,
/// and the transform of Box and Muller. The numbers depend on how many are asked for at once, not
/// on anything else; SIMD levels may differ in the last bits.
class NormalStream {
 public:
  NormalStream(std::uint64_t seed, std::string_view purpose, std::uint64_t index = 0);

  /// Fills in double precision, accurate to a few units in the last place, up to 8.6 standard
  /// deviations.
  void fill(std::span<double> out);
  /// Also gives 64 bits for each normal, of which the lowest 12 are independent of all normals.
  void fill(std::span<double> out, std::span<std::uint64_t> bits);
  /// Fills in single precision, with an absolute accuracy of 1e-6, up to 6.6 standard deviations.
  void fill(std::span<float> out);

 private:
  std::array<std::uint64_t, 32> state_;  ///< word w of copy c at 8 w + c
};

}  // namespace onset::numerics
