// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011), one block per 64-bit lane.
#include "numerics/simd/philox.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/simd/philox.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "numerics/random/philox_scalar.hpp"
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
  return 0;  // this target has no widening multiplication
}
#else
HWY_INLINE VU multiply_low_words(VU a, VU b) {
  const hn::Repartition<std::uint32_t, DU> words;
  return hn::MulEven(hn::BitCast(words, a), hn::BitCast(words, b));
}

// Between the rounds a lane's upper half holds rubbish: the multiplication reads lower halves only,
// and the last step masks.
HWY_INLINE void one_round(VU& c0, VU& c1, VU& c2, VU& c3, VU key0, VU key1) {
  const DU d;
  const VU product0 = multiply_low_words(hn::Set(d, philox_multiplier0), c0);
  const VU product1 = multiply_low_words(hn::Set(d, philox_multiplier1), c2);
  c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product1), c1), key0);
  c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(product0), c3), key1);
  c1 = product1;
  c3 = product0;
}

HWY_INLINE void store_words(VU c0, VU c1, VU c2, VU c3, std::uint64_t* out) {
  const DU d;
  const VU low_half = hn::Set(d, 0xFFFFFFFFu);
  hn::StoreInterleaved2(hn::Or(hn::And(c0, low_half), hn::ShiftLeft<32>(c1)),
                        hn::Or(hn::And(c2, low_half), hn::ShiftLeft<32>(c3)), d, out);
}

// Two vectors, a and b, at a time hide the latency of the multiplications.
std::size_t whole_vectors(const PhiloxBlocks& blocks, std::uint32_t first, std::size_t count,
                          std::uint64_t* out) {
  const DU d;
  const std::size_t lanes = hn::Lanes(d);
  std::uint64_t keys[2 * philox_rounds];
  for (std::uint32_t r = 0; r < philox_rounds; ++r) {
    const std::size_t pair = 2 * std::size_t{r};
    keys[pair] = blocks.key0 + r * philox_weyl0;
    keys[pair + 1] = blocks.key1 + r * philox_weyl1;
  }
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    VU a0 = hn::Iota(d, std::uint64_t{first} + i);
    VU a1 = hn::Set(d, blocks.counter1);
    VU a2 = hn::Set(d, blocks.counter2);
    VU a3 = hn::Set(d, blocks.counter3);
    VU b0 = hn::Add(a0, hn::Set(d, lanes));
    VU b1 = a1;
    VU b2 = a2;
    VU b3 = a3;
    for (std::size_t r = 0; r < philox_rounds; ++r) {
      const VU key0 = hn::Set(d, keys[2 * r]);
      const VU key1 = hn::Set(d, keys[2 * r + 1]);
      one_round(a0, a1, a2, a3, key0, key1);
      one_round(b0, b1, b2, b3, key0, key1);
    }
    store_words(a0, a1, a2, a3, out + 2 * i);
    store_words(b0, b1, b2, b3, out + 2 * (i + lanes));
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
