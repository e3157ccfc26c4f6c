#include "numerics/random/stream.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "numerics/random/philox_scalar.hpp"
#include "numerics/simd/philox.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

constexpr std::uint64_t max_draws = std::uint64_t{1} << 33;
constexpr std::size_t chunk = 256;

// This is FNV-1a. Purposes are a handful of words in the sources, so 32 bits are plenty.
std::uint32_t hash(std::string_view text) {
  std::uint32_t value = 2166136261u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 16777619u;
  return value;
}

constexpr std::uint32_t low(std::uint64_t x) {
  return static_cast<std::uint32_t>(x);
}
constexpr std::uint32_t high(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32);
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  philox_block(counter.data(), key[0], key[1]);
  return counter;
}

Stream::Stream(std::uint64_t seed, std::string_view purpose, std::uint64_t index)
    : seed_(seed), purpose_(hash(purpose)), index_(index) {}

Stream::Counters Stream::counters() const {
  return {{low(seed_), high(seed_)}, {purpose_, low(index_), high(index_)}};
}

void Stream::bits(std::span<std::uint64_t> out) {
  if (position_ > max_draws || out.size() > max_draws - position_) {
    throw InvalidArgument("draw", "a stream has 2^33 draws; use another index for more");
  }
  const simd::PhiloxBlocks blocks{low(seed_), high(seed_), purpose_, low(index_), high(index_)};
  std::size_t done = 0;
  // Half a block at either end goes through a separate pair.
  std::uint64_t pair[2];
  if (position_ % 2 == 1 && !out.empty()) {
    blocks.fill(low(position_ / 2), 1, pair);
    out[done++] = pair[1];
  }
  const std::size_t whole = (out.size() - done) / 2;
  blocks.fill(low((position_ + done) / 2), whole, out.data() + done);
  done += 2 * whole;
  if (done < out.size()) {
    blocks.fill(low((position_ + done) / 2), 1, pair);
    out[done++] = pair[0];
  }
  position_ += out.size();
}

std::uint64_t Stream::bits() {
  std::uint64_t value;
  bits(std::span(&value, 1));
  return value;
}

void Stream::uniform(std::span<double> out) {
  std::uint64_t buffer[chunk];
  for (std::size_t first = 0; first < out.size(); first += chunk) {
    const std::size_t count = std::min(chunk, out.size() - first);
    bits(std::span(buffer, count));
    simd::to_unit_interval(std::span(buffer, count), out.subspan(first, count));
  }
}

void Stream::normal(std::span<double> out) {
  uniform(out);
  simd::normal_quantile(out, out);
}

void Stream::normal(std::span<double> out, std::span<std::uint64_t> raw) {
  bits(raw);
  simd::to_unit_interval(raw, out);
  simd::normal_quantile(out, out);
}

double Stream::uniform() {
  double value;
  uniform(std::span(&value, 1));
  return value;
}

double Stream::normal() {
  double value;
  normal(std::span(&value, 1));
  return value;
}

}  // namespace onset::numerics
