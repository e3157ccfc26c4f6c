#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace onset::numerics {

/// Ten rounds of Philox4x32 (Salmon et al. 2011): one block of four 32-bit words.
[[nodiscard]] std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                      std::array<std::uint32_t, 2> key);

/// A counter-based random stream keyed by (seed, purpose, index). Draw k is a pure function of the
/// key and k, so a number does not depend on who draws it, where, or after what. A stream has 2^33
/// draws.
///
/// The key is the 64-bit seed; the counter words are the block number, a 32-bit hash of the
/// purpose, and the low and high half of the index. Each block gives two doubles of 52 random bits
/// and an offset of half a unit, so that uniforms lie strictly inside (0, 1). Normals are quantiles
/// of the uniforms (simd::normal_quantile), the same bits on every SIMD level. Drawing past the end
/// throws InvalidArgument.
class Stream {
 public:
  Stream(std::uint64_t seed, std::string_view purpose, std::uint64_t index = 0);

  /// The next draws. Filling 100 at once or one at a time gives the same numbers.
  void uniform(std::span<double> out);
  void normal(std::span<double> out);
  void bits(std::span<std::uint64_t> out);
  /// normal(), and the bits that the normals were made of: the lowest 12 of each are not used by
  /// its normal, and so are independent of it.
  void normal(std::span<double> out, std::span<std::uint64_t> bits);
  [[nodiscard]] double uniform();
  [[nodiscard]] double normal();
  [[nodiscard]] std::uint64_t bits();  ///< 64 raw bits: one draw

  /// What other implementations make the same draws of: the key, and the counter words after the
  /// block number.
  struct Counters {
    std::array<std::uint32_t, 2> key;
    std::array<std::uint32_t, 3> counter;
  };
  [[nodiscard]] Counters counters() const;

  /// Moves to draw number `draw`.
  void seek(std::uint64_t draw) { position_ = draw; }

 private:
  std::uint64_t seed_;
  std::uint32_t purpose_;
  std::uint64_t index_;
  std::uint64_t position_ = 0;
};

}  // namespace onset::numerics
