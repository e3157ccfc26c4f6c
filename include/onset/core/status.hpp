#pragma once

#include <string_view>

namespace onset {

/// Why an iteration ended: one vocabulary for solvers and for learners.
enum class StopReason {
  converged,       ///< a fixed point: the residual fell below the tolerance
  stationary,      ///< it fluctuates around a state, as it does in finite dimension
  recovered,       ///< nothing is left to learn: the data are explained exactly
  unfinished,      ///< the allowed iterations were used up
  stagnated,       ///< the residual stopped falling above the tolerance
  unstable,        ///< a fixed point was reached at which the map does not contract
  diverged,        ///< an iterate left the domain or stopped being finite
  false_recovery,  ///< the iteration takes itself to be exact, but the data are not explained
  inaccurate,      ///< a point was found, but the integrals at it cannot be trusted
};

/// How an iterative computation ended; nobody may silently drop it.
struct Status {
  StopReason reason = StopReason::unfinished;
  int iterations = 0;
  double residual = 0.0;

  [[nodiscard]] bool converged() const { return reason == StopReason::converged; }
};

[[nodiscard]] std::string_view to_string(StopReason reason);

}  // namespace onset
