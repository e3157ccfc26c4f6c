#include "numerics/simd/pair_softmax.hpp"

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
  // One part of log 2 is enough: what it loses is below the rounding of x.
  const V r = hn::NegMulAdd(n, hn::Set(d, 0.6931471805599453), y);
  const V r2 = hn::Mul(r, r);
  const V value = hn::Add(hn::MulAdd(polynomial(d, r, terms), r2, r), hn::Set(d, 1.0));
  const auto power = hn::ShiftLeft<52>(hn::BitCast(du, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(du, value), power));
}

/// 1 + exp(-logit) of both; the logits add up to at least 0, so that at most one of these is large.
HWY_INLINE void denominators(V z1, V z2, double* a, double* b) {
  const D d;
  const V one = hn::Set(d, 1.0);
  const V minus = hn::Sub(z2, z1);
  hn::StoreU(hn::Add(one, exp_of_moderate(hn::Mul(z1, minus))), d, a);
  hn::StoreU(hn::Add(one, exp_of_moderate(hn::Neg(hn::Mul(z2, minus)))), d, b);
}

/// Up to `block` pairs in two passes, exponentials and then divisions, which overlap better than
/// one long chain of operations.
constexpr std::size_t block = 64;

void pair_block(const double* z1, const double* z2, std::size_t count, double* first,
                double* second) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t whole = count - count % lanes;
  HWY_ALIGN double a[block];
  HWY_ALIGN double b[block];
  for (std::size_t i = 0; i < whole; i += lanes) {
    denominators(hn::LoadU(d, z1 + i), hn::LoadU(d, z2 + i), a + i, b + i);
  }
  for (std::size_t i = 0; i < whole; i += lanes) {
    const V x = hn::Load(d, a + i);
    const V y = hn::Load(d, b + i);
    const V both = hn::Div(hn::Set(d, 1.0), hn::Mul(x, y));
    hn::StoreU(hn::Mul(y, both), d, first + i);
    hn::StoreU(hn::Mul(x, both), d, second + i);
  }
  for (std::size_t i = whole; i < count; ++i) {
    denominators(hn::Set(d, z1[i]), hn::Set(d, z2[i]), a, b);
    const double both = 1.0 / (a[0] * b[0]);
    first[i] = b[0] * both;
    second[i] = a[0] * both;
  }
}

void pair_softmax_kernel(const double* z1, const double* z2, std::size_t count, double* first,
                         double* second) {
  for (std::size_t i = 0; i < count; i += block) {
    pair_block(z1 + i, z2 + i, HWY_MIN(block, count - i), first + i, second + i);
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
