#include "onset/numerics/simd/pair_softmax.hpp"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/simd/pair_softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "numerics/simd/dispatch.hpp"
#include "numerics/simd/polynomial-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace onset::numerics::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

/// exp(x) for x from -700 to 700, arguments beyond clamped: x = n log 2 + r, and 2^n by its bits.
/// The polynomial is Chebyshev's interpolation of (exp(r) - 1 - r)/r^2.
HWY_INLINE V exp_of_moderate(V x) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  constexpr double terms[] = {0.5,
                              0.166666666666483029,
                              0.0416666666666513673,
                              0.00833333335371715697,
                              0.00138888889058713456,
                              0.00019841208756992321,
                              0.0000248015364090640865,
                              2.76251020053881069e-6,
                              2.76137955545198587e-7};
  // Adding 1.5 2^52 rounds to a whole number, which then stands in the lowest bits.
  const V shift = hn::Set(d, 0x1.8p52);
  const V y = hn::Min(hn::Max(x, hn::Set(d, -700.0)), hn::Set(d, 700.0));
  const V shifted = hn::MulAdd(y, hn::Set(d, 1.4426950408889634), shift);
  const V n = hn::Sub(shifted, shift);
  const V high = hn::NegMulAdd(n, hn::Set(d, 0x1.62e42fefa0000p-1), y);
  const V r = hn::NegMulAdd(n, hn::Set(d, 0x1.cf79abc9e3b3ap-40), high);
  const V r2 = hn::Mul(r, r);
  const V value = hn::Add(hn::MulAdd(polynomial(d, r, terms), r2, r), hn::Set(d, 1.0));
  const auto power = hn::ShiftLeft<52>(hn::BitCast(du, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(du, value), power));
}

HWY_INLINE void pair(V z1, V z2, V& first, V& second) {
  const V one = hn::Set(D(), 1.0);
  const V minus = hn::Sub(z2, z1);
  const V a = hn::Add(one, exp_of_moderate(hn::Mul(z1, minus)));
  const V b = hn::Add(one, exp_of_moderate(hn::Neg(hn::Mul(z2, minus))));
  const V both = hn::Div(one, hn::Mul(a, b));
  first = hn::Mul(b, both);
  second = hn::Mul(a, both);
}

void pair_softmax_kernel(const double* z1, const double* z2, std::size_t count, double* first,
                         double* second) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  V f;
  V s;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    pair(hn::LoadU(d, z1 + i), hn::LoadU(d, z2 + i), f, s);
    hn::StoreU(f, d, first + i);
    hn::StoreU(s, d, second + i);
  }
  for (; i < count; ++i) {
    pair(hn::Set(d, z1[i]), hn::Set(d, z2[i]), f, s);
    first[i] = hn::GetLane(f);
    second[i] = hn::GetLane(s);
  }
}

}  // namespace onset::numerics::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace onset::numerics::simd {
namespace {
HWY_EXPORT(pair_softmax_kernel);
}

void pair_softmax(const double* z1, const double* z2, std::size_t count, double* first,
                  double* second) {
  ONSET_DISPATCH(pair_softmax_kernel)(z1, z2, count, first, second);
}

}  // namespace onset::numerics::simd
#endif  // HWY_ONCE
