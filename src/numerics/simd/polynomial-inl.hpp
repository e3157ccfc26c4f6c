// This file is included once per SIMD level, after highway.h.
#if defined(ONSET_NUMERICS_SIMD_POLYNOMIAL) == defined(HWY_TARGET_TOGGLE)
#ifdef ONSET_NUMERICS_SIMD_POLYNOMIAL
#undef ONSET_NUMERICS_SIMD_POLYNOMIAL
#else
#define ONSET_NUMERICS_SIMD_POLYNOMIAL
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace onset::numerics::simd::HWY_NAMESPACE {

/// c[0] + c[1] x + .., with even and odd powers side by side, which halves the latency of Horner's
/// scheme.
template <class Tag, class Vector, class Real, std::size_t n>
HWY_INLINE Vector polynomial(Tag d, Vector x, const Real (&c)[n]) {
  namespace hn = hwy::HWY_NAMESPACE;
  constexpr std::size_t last_even = (n - 1) / 2 * 2;
  constexpr std::size_t last_odd = n / 2 * 2 - 1;
  const Vector x2 = hn::Mul(x, x);
  Vector even = hn::Set(d, c[last_even]);
  Vector odd = hn::Set(d, c[last_odd]);
  for (std::size_t k = last_even; k >= 2; k -= 2) even = hn::MulAdd(even, x2, hn::Set(d, c[k - 2]));
  for (std::size_t k = last_odd; k >= 3; k -= 2) odd = hn::MulAdd(odd, x2, hn::Set(d, c[k - 2]));
  return hn::MulAdd(odd, x, even);
}

}  // namespace onset::numerics::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
