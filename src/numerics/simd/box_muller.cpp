// Single-precision normals by the transform of Box and Muller, with our own series: 31 bits for the
// radius, 32 for the angle.
#include "numerics/simd/box_muller.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/simd/box_muller.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "numerics/simd/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace onset::numerics::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using DW = hn::RebindToUnsigned<DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;

/// sqrt(-2 log u), u = (k + 1/2) 2^-31 for the upper 31 bits k.
HWY_INLINE VF radius(VI words) {
  const DF d;
  const DI di;
  const VI k = hn::BitCast(di, hn::ShiftRight<1>(hn::BitCast(DW(), words)));
  const VF u = hn::MulAdd(hn::ConvertTo(d, k), hn::Set(d, 0x1p-31f), hn::Set(d, 0x1p-32f));
  // u = 2^e x with x in [sqrt(1/2), sqrt(2)); log x = 2 artanh((x - 1)/(x + 1)).
  const VI shifted = hn::Sub(hn::BitCast(di, u), hn::Set(di, 0x3F3504F3));
  const VI e = hn::ShiftRight<23>(shifted);
  const VF x = hn::BitCast(d, hn::Sub(hn::BitCast(di, u), hn::ShiftLeft<23>(e)));
  const VF one = hn::Set(d, 1.0f);
  const VF s = hn::Div(hn::Sub(x, one), hn::Add(x, one));
  const VF s2 = hn::Mul(s, s);
  VF series = hn::Set(d, 2.0f / 9.0f);
  series = hn::MulAdd(series, s2, hn::Set(d, 2.0f / 7.0f));
  series = hn::MulAdd(series, s2, hn::Set(d, 2.0f / 5.0f));
  series = hn::MulAdd(series, s2, hn::Set(d, 2.0f / 3.0f));
  series = hn::MulAdd(series, s2, hn::Set(d, 2.0f));
  const VF log_u =
      hn::MulAdd(hn::ConvertTo(d, e), hn::Set(d, 0.693147180559945f), hn::Mul(s, series));
  // u rounds to 1 for the last few k.
  return hn::Sqrt(hn::Max(hn::Zero(d), hn::Mul(hn::Set(d, -2.0f), log_u)));
}

/// Cosine and sine of 2 pi w 2^-32: two bits choose the quadrant, the others an angle within
/// pi/4 of its middle.
HWY_INLINE void circle(VI words, VF& cosine, VF& sine) {
  const DF d;
  const DI di;
  const VI quadrant = hn::ShiftRight<30>(hn::Add(words, hn::Set(di, 1 << 29)));
  const VI rest = hn::Sub(words, hn::ShiftLeft<30>(quadrant));
  const VF x = hn::Mul(hn::ConvertTo(d, rest), hn::Set(d, 1.57079632679f * 0x1p-30f));
  const VF x2 = hn::Mul(x, x);
  VF s = hn::Set(d, 1.0f / 362880.0f);
  s = hn::MulAdd(s, x2, hn::Set(d, -1.0f / 5040.0f));
  s = hn::MulAdd(s, x2, hn::Set(d, 1.0f / 120.0f));
  s = hn::MulAdd(s, x2, hn::Set(d, -1.0f / 6.0f));
  s = hn::MulAdd(hn::Mul(s, x2), x, x);
  VF c = hn::Set(d, 1.0f / 40320.0f);
  c = hn::MulAdd(c, x2, hn::Set(d, -1.0f / 720.0f));
  c = hn::MulAdd(c, x2, hn::Set(d, 1.0f / 24.0f));
  c = hn::MulAdd(c, x2, hn::Set(d, -0.5f));
  c = hn::MulAdd(c, x2, hn::Set(d, 1.0f));
  const auto odd = hn::MaskFromVec(hn::BitCast(
      d, hn::VecFromMask(di, hn::Eq(hn::And(quadrant, hn::Set(di, 1)), hn::Set(di, 1)))));
  const VI cosine_sign =
      hn::ShiftLeft<30>(hn::And(hn::Add(quadrant, hn::Set(di, 1)), hn::Set(di, 2)));
  const VI sine_sign = hn::ShiftLeft<30>(hn::And(quadrant, hn::Set(di, 2)));
  cosine = hn::Xor(hn::IfThenElse(odd, s, c), hn::BitCast(d, cosine_sign));
  sine = hn::Xor(hn::IfThenElse(odd, c, s), hn::BitCast(d, sine_sign));
}

void box_muller_kernel(const std::int32_t* radius_words, const std::int32_t* angle_words,
                       std::size_t padded, float* first, float* second) {
  const DF d;
  const DI di;
  for (std::size_t i = 0; i < padded; i += hn::Lanes(d)) {
    const VF r = radius(hn::LoadU(di, radius_words + i));
    VF c;
    VF s;
    circle(hn::LoadU(di, angle_words + i), c, s);
    hn::StoreU(hn::Mul(r, c), d, first + i);
    hn::StoreU(hn::Mul(r, s), d, second + i);
  }
}

}  // namespace onset::numerics::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace onset::numerics::simd {
namespace {
HWY_EXPORT(box_muller_kernel);
}  // namespace

void box_muller(const std::uint64_t* bits, std::size_t count, float* out) {
  // Any vector length divides the block; a shorter one is padded.
  if (count == box_muller_block) {
    const auto* words = reinterpret_cast<const std::int32_t*>(bits);
    ONSET_DISPATCH(box_muller_kernel)(words, words + count, count, out, out + count);
    return;
  }
  std::int32_t words[2][box_muller_block] = {};
  float values[2][box_muller_block];
  std::memcpy(words[0], bits, count * sizeof(std::int32_t));
  std::memcpy(words[1], reinterpret_cast<const char*>(bits) + count * sizeof(std::int32_t),
              count * sizeof(std::int32_t));
  ONSET_DISPATCH(box_muller_kernel)
  (words[0], words[1], box_muller_block, values[0], values[1]);
  std::memcpy(out, values[0], count * sizeof(float));
  std::memcpy(out + count, values[1], count * sizeof(float));
}

}  // namespace onset::numerics::simd
#endif  // HWY_ONCE
