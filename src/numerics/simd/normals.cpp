#include "numerics/simd/normals.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/simd/normals.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "numerics/simd/dispatch.hpp"
#include "numerics/simd/polynomial-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace onset::numerics::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DU = hn::CappedTag<std::uint64_t, generator_copies>;
using VU = hn::Vec<DU>;
using D = hn::RebindToFloat<DU>;
using V = hn::Vec<D>;
using DF = hn::CappedTag<float, 2 * generator_copies>;
using DI = hn::RebindToSigned<DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;

// Polynomials of Chebyshev's interpolation, for |x| <= pi/4 and |s| <= (sqrt(2) - 1)/(sqrt(2) + 1).
/// (2 artanh(s)/s - 2)/s^2 of s^2.
constexpr double artanh_terms[] = {0.666666666666620832, 0.400000000112065063,
                                   0.285714241383241606, 0.222228622801087156,
                                   0.181401938028659911, 0.166218171528589282};
/// (sin(x)/x - 1)/x^2 and (cos(x) - 1 + x^2/2)/x^4 of x^2.
constexpr double sine_terms[] = {-0.166666666666666646,    0.00833333333333094849,
                                 -0.000198412698367585743, 2.75573161025524401e-6,
                                 -2.50511318450036244e-8,  1.59181292948666087e-10};
constexpr double cosine_terms[] = {0.0416666666666646786, -0.00138888888872773429,
                                   0.0000248015852109905159, -2.75563696955730062e-7,
                                   2.07006004834331177e-9};

/// -2 log u, u = (k + 1/2) 2^-52 for the upper 52 bits k: with u = 2^e x, x in [sqrt(1/2),
/// sqrt(2)), log x = 2 artanh((x - 1)/(x + 1)).
HWY_INLINE V squared_radius(VU bits) {
  const D d;
  const DU du;
  constexpr std::uint64_t one_bits = 0x3FF0000000000000;
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
  const V s2 = hn::Mul(s, s);
  const V log_x = hn::Mul(s, hn::MulAdd(polynomial(d, s2, artanh_terms), s2, hn::Set(d, 2.0)));
  const V log_u = hn::MulAdd(e, hn::Set(d, 0.6931471805599453), log_x);
  return hn::Mul(hn::Set(d, -2.0), log_u);
}

/// The same with u = (k + 1/2) 2^-31 for the upper 31 bits k.
HWY_INLINE VF squared_radius(VI words) {
  const DF d;
  const DI di;
  const hn::RebindToUnsigned<DI> dw;
  const VI k = hn::BitCast(di, hn::ShiftRight<1>(hn::BitCast(dw, words)));
  const VF u = hn::MulAdd(hn::ConvertTo(d, k), hn::Set(d, 0x1p-31f), hn::Set(d, 0x1p-32f));
  const VI shifted = hn::Sub(hn::BitCast(di, u), hn::Set(di, 0x3F3504F3));
  const VI e = hn::ShiftRight<23>(shifted);
  const VF x = hn::BitCast(d, hn::Sub(hn::BitCast(di, u), hn::ShiftLeft<23>(e)));
  const VF one = hn::Set(d, 1.0f);
  const VF s = hn::Div(hn::Sub(x, one), hn::Add(x, one));
  constexpr float terms[] = {-4.0f, -4.0f / 3.0f, -4.0f / 5.0f, -4.0f / 7.0f};
  const VF series = hn::Mul(s, polynomial(d, hn::Mul(s, s), terms));
  const VF square = hn::MulAdd(hn::ConvertTo(d, e), hn::Set(d, -1.38629436112f), series);
  // u rounds to 1 for the last few k.
  return hn::Max(hn::Zero(d), square);
}

/// (first, second) = (c, s), or (s, c) where the mask has ones. (IfNegativeThenElse of
/// Highway 1.0.3 is wrong at level SSSE3.)
template <class Mask, class Vector>
HWY_INLINE void exchange(Mask mask, Vector c, Vector s, Vector& first, Vector& second) {
  const hn::DFromV<Vector> d;
  const auto swap = hn::MaskFromVec(hn::BitCast(d, mask));
  first = hn::IfThenElse(swap, s, c);
  second = hn::IfThenElse(swap, c, s);
}

/// A uniform point of the circle: one bit chooses the sign of the cosine of an angle within pi/4 of
/// 0, another whether the two change places.
HWY_INLINE void circle(VU bits, V& first, V& second) {
  const D d;
  const DU du;
  constexpr std::uint64_t one_bits = 0x3FF0000000000000;
  // Only the upper bits are used, so that the lowest 12 stay free.
  const VU used = hn::AndNot(hn::Set(du, 4095), bits);
  const VU fraction = hn::ShiftRight<12>(hn::ShiftLeft<2>(used));
  const V unit =
      hn::Sub(hn::BitCast(d, hn::Or(fraction, hn::Set(du, one_bits))), hn::Set(d, 1.5 - 0x1p-51));
  const V x = hn::Mul(unit, hn::Set(d, 1.5707963267948966));
  const V x2 = hn::Mul(x, x);
  const V s = hn::MulAdd(hn::Mul(polynomial(d, x2, sine_terms), x2), x, x);
  const V c_rest = hn::MulAdd(polynomial(d, x2, cosine_terms), x2, hn::Set(d, -0.5));
  const V c_plus = hn::MulAdd(c_rest, x2, hn::Set(d, 1.0));
  const V c = hn::Or(hn::BitCast(d, hn::And(bits, hn::Set(du, std::uint64_t{1} << 63))), c_plus);
  const hn::RebindToSigned<DU> di;
  exchange(hn::BroadcastSignBit(hn::BitCast(di, hn::ShiftLeft<1>(bits))), c, s, first, second);
}

HWY_INLINE void circle(VI words, VF& first, VF& second) {
  const DF d;
  const DI di;
  const VF x =
      hn::Mul(hn::ConvertTo(d, hn::ShiftLeft<2>(words)), hn::Set(d, 0.785398163397f * 0x1p-31f));
  const VF x2 = hn::Mul(x, x);
  constexpr float sine[] = {-1.0f / 6.0f, 1.0f / 120.0f, -1.0f / 5040.0f, 1.0f / 362880.0f};
  constexpr float cosine[] = {1.0f, -0.5f, 1.0f / 24.0f, -1.0f / 720.0f, 1.0f / 40320.0f};
  const VF s = hn::MulAdd(hn::Mul(polynomial(d, x2, sine), x2), x, x);
  const VI sign = hn::And(words, hn::Set(di, static_cast<std::int32_t>(0x80000000u)));
  const VF c = hn::Or(hn::BitCast(d, sign), polynomial(d, x2, cosine));
  exchange(hn::BroadcastSignBit(hn::ShiftLeft<1>(words)), c, s, first, second);
}

/// A vector of copies of xoshiro256+.
struct Generator {
  VU s0, s1, s2, s3;

  explicit HWY_INLINE Generator(const std::uint64_t* state)
      : s0(hn::LoadU(DU(), state)),
        s1(hn::LoadU(DU(), state + generator_copies)),
        s2(hn::LoadU(DU(), state + 2 * generator_copies)),
        s3(hn::LoadU(DU(), state + 3 * generator_copies)) {}

  HWY_INLINE void save(std::uint64_t* state) const {
    hn::StoreU(s0, DU(), state);
    hn::StoreU(s1, DU(), state + generator_copies);
    hn::StoreU(s2, DU(), state + 2 * generator_copies);
    hn::StoreU(s3, DU(), state + 3 * generator_copies);
  }

  HWY_INLINE VU next() {
    const VU out = hn::Add(s0, s3);
    const VU t = hn::ShiftLeft<17>(s1);
    s2 = hn::Xor(s2, s0);
    s3 = hn::Xor(s3, s1);
    s1 = hn::Xor(s1, s2);
    s0 = hn::Xor(s0, s3);
    s2 = hn::Xor(s2, t);
    s3 = hn::Or(hn::ShiftLeft<45>(s3), hn::ShiftRight<19>(s3));
    return out;
  }
};

/// Part i of the words of a vector of copies, as the integers that the transform wants. A vector
/// has one part; a scalar has as many as there are normals in a word.
template <class TagOfWords>
HWY_INLINE hn::Vec<TagOfWords> part(VU words, std::size_t i) {
  const TagOfWords d;
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, static_cast<hn::TFromD<TagOfWords>>(hn::GetLane(words) >> (32 * i)));
#else
  static_cast<void>(i);
  return hn::BitCast(d, words);
#endif
}

/// The number of tiles that share two passes, one for squared radii and one for the rest: a single
/// pass would be too long a chain of operations for the processor to overlap a tile with the next.
constexpr std::size_t tiles_at_once = 16;

template <class Tag, class TagOfWords, class Real>
void fill(std::uint64_t* state, std::size_t tiles, Real* out, std::uint64_t* bits) {
  const DU du;
  const Tag d;
  const std::size_t copies = hn::Lanes(du);
  constexpr std::size_t half = normals_per_tile<Real> / 2;
  constexpr std::size_t per_word = half / generator_copies;
  HWY_ALIGN std::uint64_t angles[tiles_at_once * generator_copies];
  HWY_ALIGN Real squares[tiles_at_once * half];
  for (std::size_t v = 0; v < generator_copies; v += copies) {
    Generator generator(state + v);
    for (std::size_t begin = 0; begin < tiles; begin += tiles_at_once) {
      const std::size_t count = HWY_MIN(tiles_at_once, tiles - begin);
      for (std::size_t t = 0; t < count; ++t) {
        const VU radius_words = generator.next();
        const VU angle_words = generator.next();
        hn::StoreU(angle_words, du, angles + t * copies);
        for (std::size_t i = 0; i < per_word * copies; i += hn::Lanes(d)) {
          hn::StoreU(squared_radius(part<TagOfWords>(radius_words, i)), d, squares + t * half + i);
        }
        if (bits == nullptr) continue;
        hn::StoreU(radius_words, du, bits + 2 * (begin + t) * half + v);
        hn::StoreU(angle_words, du, bits + 2 * (begin + t) * half + half + v);
      }
      for (std::size_t t = 0; t < count; ++t) {
        const VU angle_words = hn::LoadU(du, angles + t * copies);
        Real* to = out + 2 * (begin + t) * half + v * per_word;
        for (std::size_t i = 0; i < per_word * copies; i += hn::Lanes(d)) {
          hn::Vec<Tag> first;
          hn::Vec<Tag> second;
          circle(part<TagOfWords>(angle_words, i), first, second);
          const auto radius = hn::Sqrt(hn::LoadU(d, squares + t * half + i));
          hn::StoreU(hn::Mul(radius, first), d, to + i);
          hn::StoreU(hn::Mul(radius, second), d, to + half + i);
        }
      }
    }
    generator.save(state + v);
  }
}

void double_kernel(std::uint64_t* state, std::size_t tiles, double* out, std::uint64_t* bits) {
  fill<D, DU>(state, tiles, out, bits);
}

void float_kernel(std::uint64_t* state, std::size_t tiles, float* out) {
  fill<DF, DI>(state, tiles, out, nullptr);
}

}  // namespace onset::numerics::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace onset::numerics::simd {
namespace {
HWY_EXPORT(double_kernel);
HWY_EXPORT(float_kernel);
}  // namespace

void normals(std::uint64_t* state, std::size_t tiles, double* out, std::uint64_t* bits) {
  ONSET_DISPATCH(double_kernel)(state, tiles, out, bits);
}

void normals(std::uint64_t* state, std::size_t tiles, float* out, std::uint64_t*) {
  ONSET_DISPATCH(float_kernel)(state, tiles, out);
}

}  // namespace onset::numerics::simd
#endif  // HWY_ONCE
