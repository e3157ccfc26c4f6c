#pragma once

namespace onset {

/// A number and its standard error. The error is 0 only where the value is exact to rounding.
///
/// There is deliberately no arithmetic: two estimates usually share integration points, so their
/// errors are not independent. Carry replicates through a computation (numerics/replicates.hpp) and
/// reduce them to an Estimate at the very end.
struct Estimate {
  double value = 0.0;
  double error = 0.0;
};

}  // namespace onset
