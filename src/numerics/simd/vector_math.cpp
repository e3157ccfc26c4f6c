// exp, log and sigmoid use Highway's polynomials, corrected at the edges of the range.
#include "numerics/simd/vector_math.hpp"

#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "numerics/simd/vector_math.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// This must come after highway.h.
#include <hwy/contrib/math/math-inl.h>

#include "numerics/simd/dispatch.hpp"
#include "numerics/simd/same_size.hpp"

HWY_BEFORE_NAMESPACE();
namespace onset::numerics::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

// Applies f to whole vectors; the remainder goes through a padded one, so that an element gets the
// same operations wherever it stands.
template <class Function>
void transform(const double* x, double* out, std::size_t count, const Function& f) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(d, hn::LoadU(d, x + i)), d, out + i);
  if (i == count) return;
  HWY_ALIGN double buffer[HWY_MAX_BYTES / sizeof(double)];
  for (std::size_t j = 0; j < lanes; ++j) buffer[j] = i + j < count ? x[i + j] : 1.0;
  hn::Store(f(d, hn::Load(d, buffer)), d, buffer);
  for (std::size_t j = 0; i + j < count; ++j) out[i + j] = buffer[j];
}

// hn::Exp builds 2^q from two factors, so it is right to the overflow at 709.78 and infinite from
// there to about 1400; arguments beyond are clamped. It is 0 below -1000, and would be 0 for NaN.
HWY_INLINE V exp_lanes(D d, V x) {
  const V y = hn::Exp(d, hn::Min(x, hn::Set(d, 1000.0)));
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

HWY_INLINE V log_lanes(D d, V x) {
  const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
  const V y = hn::Log(d, x);
  const auto ordinary = hn::And(hn::Gt(x, hn::Zero(d)), hn::Lt(x, infinity));
  if (HWY_LIKELY(hn::AllTrue(d, ordinary))) return y;
  // What is left is 0, +infinity, negative or NaN.
  const V nan = hn::Set(d, std::numeric_limits<double>::quiet_NaN());
  V edge = hn::IfThenElse(hn::Eq(x, infinity), infinity, nan);
  edge = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), edge);
  return hn::IfThenElse(ordinary, y, edge);
}

// With e = exp(-|x|) <= 1 both branches are free of overflow and of cancellation.
HWY_INLINE V sigmoid_lanes(D d, V x) {
  const V one = hn::Set(d, 1.0);
  const V e = hn::Exp(d, hn::Neg(hn::Abs(x)));
  const V y = hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

void exp_kernel(const double* x, double* out, std::size_t count) {
  transform(x, out, count, [](D d, V v) HWY_ATTR { return exp_lanes(d, v); });
}

void log_kernel(const double* x, double* out, std::size_t count) {
  transform(x, out, count, [](D d, V v) HWY_ATTR { return log_lanes(d, v); });
}

void sigmoid_kernel(const double* x, double* out, std::size_t count) {
  transform(x, out, count, [](D d, V v) HWY_ATTR { return sigmoid_lanes(d, v); });
}

}  // namespace onset::numerics::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace onset::numerics::simd {
namespace {
HWY_EXPORT(exp_kernel);
HWY_EXPORT(log_kernel);
HWY_EXPORT(sigmoid_kernel);
}  // namespace

void exp(std::span<const double> x, std::span<double> out) {
  require_same_size(x.size(), out.size());
  ONSET_DISPATCH(exp_kernel)(x.data(), out.data(), x.size());
}

void log(std::span<const double> x, std::span<double> out) {
  require_same_size(x.size(), out.size());
  ONSET_DISPATCH(log_kernel)(x.data(), out.data(), x.size());
}

void sigmoid(std::span<const double> x, std::span<double> out) {
  require_same_size(x.size(), out.size());
  ONSET_DISPATCH(sigmoid_kernel)(x.data(), out.data(), x.size());
}

}  // namespace onset::numerics::simd
#endif  // HWY_ONCE
