#include "numerics/simd/normal_pairs.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/simd/normal_pairs.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "numerics/simd/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace onset::numerics::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;
using DU = hn::RebindToUnsigned<D>;
using VU = hn::Vec<DU>;

constexpr std::uint64_t one_bits = 0x3FF0000000000000;

/// -2 log u, u = (k + 1/2) 2^-52 for the upper 52 bits k: with u = 2^e x, x in [sqrt(1/2),
/// sqrt(2)), log x = 2 artanh((x - 1)/(x + 1)) by its series.
HWY_INLINE V minus_two_log(VU bits) {
  const D d;
  const DU du;
  constexpr std::uint64_t root_half = 0x3FE6A09E667F3BCD;
  constexpr std::uint64_t mantissa = 0x000FFFFFFFFFFFFF;
  const V above_one = hn::BitCast(d, hn::Or(hn::ShiftRight<12>(bits), hn::Set(du, one_bits)));
  const V u = hn::Sub(above_one, hn::Set(d, 1.0 - 0x1p-53));
  const VU shifted = hn::Add(hn::BitCast(du, u), hn::Set(du, one_bits - root_half));
  const V x =
      hn::BitCast(d, hn::Add(hn::And(shifted, hn::Set(du, mantissa)), hn::Set(du, root_half)));
  const VU raised = hn::Or(hn::ShiftRight<52>(shifted), hn::BitCast(du, hn::Set(d, 0x1p52)));
  const V e = hn::Sub(hn::BitCast(d, raised), hn::Set(d, 0x1p52 + 1023.0));
  const V s = hn::Div(hn::Sub(x, hn::Set(d, 1.0)), hn::Add(x, hn::Set(d, 1.0)));
  const V z = hn::Mul(s, s);
  V series = hn::Set(d, -4.0 / 19.0);
  for (int odd = 17; odd >= 1; odd -= 2) series = hn::MulAdd(series, z, hn::Set(d, -4.0 / odd));
  return hn::MulAdd(e, hn::Set(d, -1.3862943611198906), hn::Mul(s, series));
}

/// A uniform point of the circle: one bit chooses the sign of the cosine of an angle within pi/4 of
/// 0, another whether the two change places.
HWY_INLINE void circle(VU bits, V& first, V& second) {
  const D d;
  const DU du;
  const VU used = hn::AndNot(hn::Set(du, 4095), bits);
  const VU fraction = hn::ShiftRight<12>(hn::ShiftLeft<2>(used));
  const V unit =
      hn::Sub(hn::BitCast(d, hn::Or(fraction, hn::Set(du, one_bits))), hn::Set(d, 1.5 - 0x1p-51));
  const V x = hn::Mul(unit, hn::Set(d, 1.5707963267948966));
  const V x2 = hn::Mul(x, x);
  V s = hn::Set(d, -1.0 / 1307674368000.0);
  V c = hn::Set(d, 1.0 / 20922789888000.0);
  constexpr double sine[6] = {1.0 / 6227020800.0, -1.0 / 39916800.0, 1.0 / 362880.0,
                              -1.0 / 5040.0,      1.0 / 120.0,       -1.0 / 6.0};
  constexpr double cosine[8] = {-1.0 / 87178291200.0,
                                1.0 / 479001600.0,
                                -1.0 / 3628800.0,
                                1.0 / 40320.0,
                                -1.0 / 720.0,
                                1.0 / 24.0,
                                -0.5,
                                1.0};
  for (const double a : sine) s = hn::MulAdd(s, x2, hn::Set(d, a));
  for (const double a : cosine) c = hn::MulAdd(c, x2, hn::Set(d, a));
  s = hn::MulAdd(hn::Mul(s, x2), x, x);
  c = hn::Or(hn::BitCast(d, hn::And(bits, hn::Set(du, std::uint64_t{1} << 63))), c);
  const V swap = hn::BitCast(d, hn::ShiftLeft<1>(bits));
  first = hn::IfNegativeThenElse(swap, s, c);
  second = hn::IfNegativeThenElse(swap, c, s);
}

/// `pairs` is a multiple of the vector length.
void pairs_kernel(const std::uint64_t* radius, const std::uint64_t* angle, std::size_t pairs,
                  double* first, double* second) {
  const D d;
  const DU du;
  for (std::size_t i = 0; i < pairs; i += hn::Lanes(d)) {
    const V r = hn::Sqrt(minus_two_log(hn::LoadU(du, radius + i)));
    V c;
    V s;
    circle(hn::LoadU(du, angle + i), c, s);
    hn::StoreU(hn::Mul(r, c), d, first + i);
    hn::StoreU(hn::Mul(r, s), d, second + i);
  }
}

}  // namespace onset::numerics::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace onset::numerics::simd {
namespace {
HWY_EXPORT(pairs_kernel);
constexpr std::size_t longest_vector = 64;
}  // namespace

void normal_pairs(const std::uint64_t* bits, std::size_t pairs, double* out) {
  const std::size_t whole = pairs - pairs % longest_vector;
  ONSET_DISPATCH(pairs_kernel)(bits, bits + pairs, whole, out, out + pairs);
  const std::size_t rest = pairs - whole;
  if (rest == 0) return;
  std::uint64_t padded[2][longest_vector] = {};
  double values[2][longest_vector];
  std::copy_n(bits + whole, rest, padded[0]);
  std::copy_n(bits + pairs + whole, rest, padded[1]);
  ONSET_DISPATCH(pairs_kernel)(padded[0], padded[1], longest_vector, values[0], values[1]);
  std::copy_n(values[0], rest, out + whole);
  std::copy_n(values[1], rest, out + pairs + whole);
}

}  // namespace onset::numerics::simd
#endif  // HWY_ONCE
