#pragma once

#include <cstddef>

#include "onset/core/context.hpp"
#include "onset/numerics/hermite.hpp"

namespace onset::numerics {

/// Two projections of one function: how they differ bounds the error of the finer one.
struct HermiteBracket {
  HermiteProjection fine;
  HermiteProjection coarse;
};

/// hermite_series() for functions of one or two variables with kinks and jumps, which lie where one
/// of the outputs of `switches` changes sign (see Expression::switch_values): every line is cut
/// there, and panels are halved until both halves agree with the whole, to rounding, or a limit of
/// halvings is reached. It takes some 10^3 evaluations for one variable, and 10^6 for two. `scale`
/// is the size of the function, sqrt(E f^2) or so. Throws InvalidArgument for three or more
/// variables.
[[nodiscard]] HermiteBracket rough_hermite_series(const BatchFunction& f,
                                                  const BatchFunction& switches, std::size_t degree,
                                                  double scale, const Context& context);

}  // namespace onset::numerics
