// The normal quantile: rational approximations of Wichura, "Algorithm AS 241: the percentage points
// of the normal distribution", Applied Statistics 37 (1988) 477, routine PPND16.
//
// It uses only correctly rounded operations and no fused multiply-add (the project is compiled with
// -ffp-contract=off), so that every SIMD level gives the same bits.
#include <cstddef>
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/simd/normal_quantile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "numerics/point_sets/quantile_fractions.hpp"
#include "numerics/simd/dispatch.hpp"
#include "numerics/simd/same_size.hpp"
#include "numerics/simd/vector_math.hpp"

HWY_BEFORE_NAMESPACE();
namespace onset::numerics::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

constexpr std::size_t block = 256;

HWY_INLINE V rational(D d, V x, const QuantileFraction& fraction) {
  V numerator = hn::Set(d, fraction.top[0]);
  V denominator = hn::Set(d, fraction.bottom[0]);
  for (int k = 1; k < 8; ++k) {
    numerator = hn::Add(hn::Mul(numerator, x), hn::Set(d, fraction.top[k]));
    denominator = hn::Add(hn::Mul(denominator, x), hn::Set(d, fraction.bottom[k]));
  }
  return hn::Div(numerator, denominator);
}

HWY_INLINE V centre(D d, V p) {
  const V q = hn::Sub(p, hn::Set(d, 0.5));
  const V r = hn::Sub(hn::Set(d, centre_half_width * centre_half_width), hn::Mul(q, q));
  return hn::Mul(q, rational(d, r, quantile_centre));
}

// -log x: x = 2^k m with m in [sqrt(1/2), sqrt(2)), log m = 2 artanh((m-1)/(m+1)) by
// its Taylor series. For x < 0.08 the first term left out is below 2^-57 of the result.
HWY_INLINE V minus_log(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const auto subnormal = hn::Lt(x, hn::Set(d, std::numeric_limits<double>::min()));
  x = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, 0x1p54)), x);
  // The boundary between two exponents moves from 1 to sqrt(1/2) before the bits are split.
  constexpr std::uint64_t one = 0x3FF0000000000000;
  constexpr std::uint64_t root_half = 0x3FE6A09E667F3BCD;
  constexpr std::uint64_t mantissa = 0x000FFFFFFFFFFFFF;
  const auto bits = hn::Add(hn::BitCast(du, x), hn::Set(du, one - root_half));
  const V m = hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(du, mantissa)), hn::Set(du, root_half)));
  // The biased exponent becomes a double by way of the bits of 2^52.
  const auto raised = hn::Or(hn::ShiftRight<52>(bits), hn::BitCast(du, hn::Set(d, 0x1p52)));
  const V bias =
      hn::IfThenElse(subnormal, hn::Set(d, 0x1p52 + 1077.0), hn::Set(d, 0x1p52 + 1023.0));
  const V k = hn::Sub(hn::BitCast(d, raised), bias);

  const V s = hn::Div(hn::Sub(m, hn::Set(d, 1.0)), hn::Add(m, hn::Set(d, 1.0)));
  const V z = hn::Mul(s, s);
  V series = hn::Set(d, 2.0 / 19.0);
  for (int odd = 17; odd >= 3; odd -= 2) {
    series = hn::Add(hn::Mul(series, z), hn::Set(d, 2.0 / odd));
  }
  // log 2 in two parts; k times the first is exact.
  const V small =
      hn::Add(hn::Mul(hn::Mul(s, z), series), hn::Mul(k, hn::Set(d, 0x1.ef35793c76730p-45)));
  const V log_m = hn::Add(hn::Add(s, s), small);
  return hn::Neg(hn::Add(hn::Mul(k, hn::Set(d, 0x1.62e42fefa38p-1)), log_m));
}

HWY_INLINE V tail(D d, V p) {
  const V half = hn::Set(d, 0.5);
  const V one = hn::Set(d, 1.0);
  const V zero = hn::Zero(d);
  const auto lower = hn::Lt(p, half);
  const V nearer = hn::IfThenElse(lower, p, hn::Sub(one, p));
  const V r = hn::Sqrt(minus_log(d, nearer));
  V value = rational(d, hn::Sub(r, hn::Set(d, 1.6)), quantile_tail);
  const auto far = hn::Gt(r, hn::Set(d, 5.0));
  if (HWY_UNLIKELY(!hn::AllFalse(d, far))) {
    value = hn::IfThenElse(far, rational(d, hn::Sub(r, hn::Set(d, 5.0)), quantile_far_tail), value);
  }
  value = hn::IfThenElse(hn::Eq(nearer, zero), hn::Set(d, std::numeric_limits<double>::infinity()),
                         value);
  // Outside [0, 1], and for NaN, there is no quantile.
  value = hn::IfThenElse(hn::Ge(nearer, zero), value,
                         hn::Set(d, std::numeric_limits<double>::quiet_NaN()));
  return hn::IfThenElse(lower, hn::Neg(value), value);
}

// The places of the set bits of a nibble, and how many there are.
struct Nibble {
  std::uint32_t place[4];
  std::uint32_t count;
};
constexpr Nibble nibbles[16] = {
    {{0, 0, 0, 0}, 0}, {{0, 0, 0, 0}, 1}, {{1, 0, 0, 0}, 1}, {{0, 1, 0, 0}, 2},
    {{2, 0, 0, 0}, 1}, {{0, 2, 0, 0}, 2}, {{1, 2, 0, 0}, 2}, {{0, 1, 2, 0}, 3},
    {{3, 0, 0, 0}, 1}, {{0, 3, 0, 0}, 2}, {{1, 3, 0, 0}, 2}, {{0, 1, 3, 0}, 3},
    {{2, 3, 0, 0}, 2}, {{0, 2, 3, 0}, 3}, {{1, 2, 3, 0}, 3}, {{0, 1, 2, 3}, 4}};

// The centre's value of each lane; the places, counted from `first`, of the lanes that lie in a
// tail go to `place`. Returns how many those are. (Highway's Compress copies its table at every
// call.)
HWY_INLINE std::size_t centre_and_places(D d, V p, std::size_t first, double* out,
                                         std::uint32_t* place) {
  hn::StoreU(centre(d, p), d, out);
  const V distance = hn::Abs(hn::Sub(p, hn::Set(d, 0.5)));
  const auto in_centre = hn::Le(distance, hn::Set(d, centre_half_width));
  std::uint8_t bits[HWY_MAX_BYTES / sizeof(double) + 8];
  hn::StoreMaskBits(d, hn::Not(in_centre), bits);  // NaN goes to the tails
  std::size_t found = 0;
  for (std::size_t lane = 0; lane < hn::Lanes(d); lane += 4) {
    const Nibble& nibble = nibbles[(bits[lane / 8] >> (lane % 8)) & 15];
    for (int j = 0; j < 4; ++j) {
      place[found + j] = static_cast<std::uint32_t>(first + lane) + nibble.place[j];
    }
    found += nibble.count;
  }
  return found;
}

// The tails (15 % of uniform points) cost three times as much as the centre, and a vector of four
// or eight would nearly always hold one: they are collected and done together.
void quantile_block(const double* p, double* out, std::size_t count) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t padding = HWY_MAX_BYTES / sizeof(double);
  HWY_ALIGN double input[block + padding];  // a copy, since out may be p
  HWY_ALIGN double output[block + padding];
  std::uint32_t place[block + padding + 4];
  for (std::size_t i = 0; i < count; ++i) input[i] = p[i];
  for (std::size_t j = 0; j < lanes; ++j) input[count + j] = 0.5;
  std::size_t tails = 0;
  for (std::size_t i = 0; i < count; i += lanes) {
    tails += centre_and_places(d, hn::Load(d, input + i), i, output + i, place + tails);
  }
  for (std::size_t i = 0; i < count; ++i) out[i] = output[i];

  for (std::size_t t = 0; t < tails; ++t) input[t] = input[place[t]];
  for (std::size_t j = 0; j < lanes; ++j) input[tails + j] = 0.01;
  for (std::size_t t = 0; t < tails; t += lanes) {
    hn::Store(tail(d, hn::Load(d, input + t)), d, output + t);
  }
  for (std::size_t t = 0; t < tails; ++t) out[place[t]] = output[t];
}

void quantile_kernel(const double* p, double* out, std::size_t count) {
  for (std::size_t first = 0; first < count; first += block) {
    quantile_block(p + first, out + first, count - first < block ? count - first : block);
  }
}

}  // namespace onset::numerics::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace onset::numerics::simd {
namespace {
HWY_EXPORT(quantile_kernel);
}

void normal_quantile(std::span<const double> probability, std::span<double> out) {
  require_same_size(probability.size(), out.size());
  ONSET_DISPATCH(quantile_kernel)(probability.data(), out.data(), out.size());
}

}  // namespace onset::numerics::simd
#endif  // HWY_ONCE
