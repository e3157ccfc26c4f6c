#pragma once

#include <string_view>

namespace onset {

/// Why an iteration ended.
enum class StopReason {
  converged,       ///< the residual fell below the tolerance
  max_iterations,  ///< the allowed iterations were used up
  stagnated,       ///< the residual stopped falling while still above the tolerance
  unstable,        ///< a fixed point was reached at which the map does not contract
  diverged,        ///< an iterate left the domain or stopped being finite
  inaccurate,      ///< a point was found, but the integrals at it cannot be trusted
};

/// How an iterative computation ended; nobody may silently drop it.
struct Status {
  StopReason reason = StopReason::max_iterations;
  int iterations = 0;
  double residual = 0.0;

  [[nodiscard]] bool converged() const { return reason == StopReason::converged; }
};

[[nodiscard]] std::string_view to_string(StopReason reason);

}  // namespace onset
