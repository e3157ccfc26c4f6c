#include "numerics/random/normal_stream.hpp"

#include <algorithm>

#include "numerics/random/stream.hpp"
#include "numerics/simd/normals.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

/// Whole tiles are written in place; the rest goes through a separate tile.
template <class Real>
void fill_tiles(std::uint64_t* state, std::span<Real> out, std::span<std::uint64_t> bits) {
  constexpr std::size_t tile = simd::normals_per_tile<Real>;
  const std::size_t tiles = out.size() / tile;
  simd::normals(state, tiles, out.data(), bits.empty() ? nullptr : bits.data());
  const std::size_t done = tiles * tile;
  if (done == out.size()) return;
  Real last[tile];
  std::uint64_t last_bits[tile];
  simd::normals(state, 1, last, last_bits);
  std::copy_n(last, out.size() - done, out.begin() + static_cast<std::ptrdiff_t>(done));
  if (!bits.empty()) {
    std::copy_n(last_bits, out.size() - done, bits.begin() + static_cast<std::ptrdiff_t>(done));
  }
}

}  // namespace

NormalStream::NormalStream(std::uint64_t seed, std::string_view purpose, std::uint64_t index)
    : state_() {
  Stream(seed, purpose, index).bits(state_);
}

void NormalStream::fill(std::span<double> out) {
  fill_tiles(state_.data(), out, {});
}

void NormalStream::fill(std::span<double> out, std::span<std::uint64_t> bits) {
  if (bits.size() != out.size()) {
    throw InvalidArgument("bits", "allowed: as many as normals");
  }
  fill_tiles(state_.data(), out, bits);
}

void NormalStream::fill(std::span<float> out) {
  fill_tiles(state_.data(), out, {});
}

}  // namespace onset::numerics
