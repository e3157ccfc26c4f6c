// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011), one block per 64-bit lane.
#include "numerics/simd/philox.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/simd/philox.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "numerics/philox_scalar.hpp"
#include "numerics/simd/dispatch.hpp"
#include "numerics/simd/same_size.hpp"

HWY_BEFORE_NAMESPACE();
namespace onset::numerics::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DU = hn::ScalableTag<std::uint64_t>;
using VU = hn::Vec<DU>;

// Returns how many blocks were done: whole vectors of them.
#if HWY_TARGET == HWY_SCALAR
std::size_t whole_vectors(const PhiloxBlocks&, std::uint32_t, std::size_t, std::uint64_t*) {
  return 0;  // no widening multiplication there
}
#else
HWY_INLINE VU multiply_low_words(VU a, VU b) {
  const hn::Repartition<std::uint32_t, DU> words;
  return hn::MulEven(hn::BitCast(words, a), hn::BitCast(words, b));
}

// A lane's upper half is allowed to hold rubbish between the rounds: the multiplication reads lower
// halves only, and the last step masks.
std::size_t whole_vectors(const PhiloxBlocks& blocks, std::uint32_t first, std::size_t count,
                          std::uint64_t* out) {
  const DU d;
  const std::size_t lanes = hn::Lanes(d);
  const VU multiplier0 = hn::Set(d, philox_multiplier0);
  const VU multiplier1 = hn::Set(d, philox_multiplier1);
  const VU low_half = hn::Set(d, 0xFFFFFFFFu);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    VU c0 = hn::Iota(d, std::uint64_t{first} + i);
    VU c1 = hn::Set(d, blocks.counter1);
    VU c2 = hn::Set(d, blocks.counter2);
    VU c3 = hn::Set(d, blocks.counter3);
    std::uint32_t key0 = blocks.key0;
    std::uint32_t key1 = blocks.key1;
    for (int round = 0; round < philox_rounds; ++round) {
      const VU product0 = multiply_low_words(multiplier0, c0);
      const VU product1 = multiply_low_words(multiplier1, c2);
      c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), c1), hn::Set(d, key0));
      c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), c3), hn::Set(d, key1));
      c1 = product1;
      c3 = product0;
      key0 += philox_weyl0;
      key1 += philox_weyl1;
    }
    const VU even = hn::Or(hn::And(c0, low_half), hn::ShiftLeft<32>(c1));
    const VU odd = hn::Or(hn::And(c2, low_half), hn::ShiftLeft<32>(c3));
    hn::StoreInterleaved2(even, odd, d, out + 2 * i);
  }
  return i;
}
#endif

void philox_kernel(const PhiloxBlocks& blocks, std::uint32_t first, std::size_t count,
                   std::uint64_t* out) {
  for (std::size_t i = whole_vectors(blocks, first, count, out); i < count; ++i) {
    std::uint32_t words[4] = {first + static_cast<std::uint32_t>(i), blocks.counter1,
                              blocks.counter2, blocks.counter3};
    philox_block(words, blocks.key0, blocks.key1);
    out[2 * i] = words[0] | (std::uint64_t{words[1]} << 32);
    out[2 * i + 1] = words[2] | (std::uint64_t{words[3]} << 32);
  }
}

// The upper 52 bits k become the mantissa of 1 + k 2^-52; what is subtracted, 1 - 2^-53, leaves
// (2k + 1) 2^-53 without rounding.
void unit_kernel(const std::uint64_t* bits, double* out, std::size_t count) {
  const DU du;
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::uint64_t one = 0x3FF0000000000000;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const VU mantissa = hn::ShiftRight<12>(hn::LoadU(du, bits + i));
    const auto value = hn::BitCast(d, hn::Or(mantissa, hn::Set(du, one)));
    hn::StoreU(hn::Sub(value, hn::Set(d, 1.0 - 0x1p-53)), d, out + i);
  }
  for (; i < count; ++i) out[i] = (static_cast<double>(bits[i] >> 12) + 0.5) * 0x1p-52;
}

}  // namespace onset::numerics::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace onset::numerics::simd {
namespace {
HWY_EXPORT(philox_kernel);
HWY_EXPORT(unit_kernel);
}  // namespace

void PhiloxBlocks::fill(std::uint32_t first, std::size_t blocks, std::uint64_t* out) const {
  ONSET_DISPATCH(philox_kernel)(*this, first, blocks, out);
}

void to_unit_interval(std::span<const std::uint64_t> bits, std::span<double> out) {
  require_same_size(bits.size(), out.size());
  ONSET_DISPATCH(unit_kernel)(bits.data(), out.data(), out.size());
}

}  // namespace onset::numerics::simd
#endif  // HWY_ONCE
