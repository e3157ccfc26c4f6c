#pragma once

#include "mha/learners/hull/affine_hull.hpp"

namespace onset::mha {

/// The body seen through its support function: linear programs max <g, theta> over the inflated
/// body, in directions along the hull and across it [mha 16]. This cross-checks the singular
/// vectors.
struct SupportCheck {
  bool solved = false;
  double along = 0.0;   ///< least width along a direction of the hull
  double across = 0.0;  ///< largest width across it
  /// Sine of the largest angle between the hull's directions and the principal ones of the
  /// maximisers.
  double sine = 0.0;
};

[[nodiscard]] SupportCheck check_support(const Body& body, double inflation, const Hull& hull,
                                         const Context& context);

}  // namespace onset::mha
