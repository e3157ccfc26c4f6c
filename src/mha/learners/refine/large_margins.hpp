#pragma once

#include "mha/learners/subset.hpp"
#include "onset/core/context.hpp"

namespace onset::mha {

/// Phase 3: where the proxy attends to one token by a large margin, so do the heads, and the label
/// is that token times W [mha 13]. Those labels are regressed on those tokens by geometric medians:
/// a few per cent of the rows have a dissenting head, which least squares would not survive.
[[nodiscard]] Matrix large_margin_projection(const Subset& sample, const Vector& proxy,
                                             const Context& context);

}  // namespace onset::mha
