#pragma once

#include <hwy/highway.h>

namespace onset::numerics::simd {

/// The target that all our kernels run on. It is our own object, not Highway's process-wide one, so
/// that pinning a level neither disturbs nor depends on other users of Highway in the process.
[[nodiscard]] const hwy::ChosenTarget& chosen_target();

}  // namespace onset::numerics::simd

// The kernel of the chosen level, after HWY_EXPORT(kernel). Use it instead of HWY_DYNAMIC_DISPATCH.
#if HWY_IDE || ((HWY_TARGETS & (HWY_TARGETS - 1)) == 0)
#define ONSET_DISPATCH(kernel) HWY_STATIC_DISPATCH(kernel)
#else
#define ONSET_DISPATCH(kernel) \
  (*(HWY_DISPATCH_TABLE(kernel)[onset::numerics::simd::chosen_target().GetIndex()]))
#endif
