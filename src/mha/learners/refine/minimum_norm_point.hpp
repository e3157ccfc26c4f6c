#pragma once

#include "mha/learners/sculpt/slabs.hpp"

namespace onset::mha {

/// Phase 3: the point of least Frobenius norm in the body inflated by `inflation`, by an
/// interior-point method. It is empty when the body is, to rounding.
[[nodiscard]] Vector minimum_norm_point(const Body& body, double inflation, const Context& context);

}  // namespace onset::mha
