#include "numerics/simd/float_vectors.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/simd/float_vectors.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "numerics/simd/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace onset::numerics::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

float dot_kernel(const float* a, const float* b, std::size_t count) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  V s0 = hn::Zero(d);
  V s1 = hn::Zero(d);
  V s2 = hn::Zero(d);
  V s3 = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 4 * n <= count; i += 4 * n) {
    s0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), s0);
    s1 = hn::MulAdd(hn::LoadU(d, a + i + n), hn::LoadU(d, b + i + n), s1);
    s2 = hn::MulAdd(hn::LoadU(d, a + i + 2 * n), hn::LoadU(d, b + i + 2 * n), s2);
    s3 = hn::MulAdd(hn::LoadU(d, a + i + 3 * n), hn::LoadU(d, b + i + 3 * n), s3);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

float add_scaled_kernel(float factor, const float* x, float* w, std::size_t count) {
  const D d;
  const std::size_t n = hn::Lanes(d);
  const V f = hn::Set(d, factor);
  V s0 = hn::Zero(d);
  V s1 = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * n <= count; i += 2 * n) {
    const V w0 = hn::MulAdd(f, hn::LoadU(d, x + i), hn::LoadU(d, w + i));
    const V w1 = hn::MulAdd(f, hn::LoadU(d, x + i + n), hn::LoadU(d, w + i + n));
    hn::StoreU(w0, d, w + i);
    hn::StoreU(w1, d, w + i + n);
    s0 = hn::MulAdd(w0, w0, s0);
    s1 = hn::MulAdd(w1, w1, s1);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
  for (; i < count; ++i) {
    w[i] += factor * x[i];
    sum += w[i] * w[i];
  }
  return sum;
}

}  // namespace onset::numerics::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace onset::numerics::simd {
namespace {
HWY_EXPORT(dot_kernel);
HWY_EXPORT(add_scaled_kernel);
}  // namespace

float dot(const float* a, const float* b, std::size_t count) {
  return ONSET_DISPATCH(dot_kernel)(a, b, count);
}

float add_scaled(float factor, const float* x, float* w, std::size_t count) {
  return ONSET_DISPATCH(add_scaled_kernel)(factor, x, w, count);
}

}  // namespace onset::numerics::simd
#endif  // HWY_ONCE
