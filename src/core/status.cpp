#include "onset/core/status.hpp"

namespace onset {

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::converged: return "converged";
    case StopReason::max_iterations: return "max-iterations";
    case StopReason::stagnated: return "stagnated";
    case StopReason::unstable: return "unstable";
    case StopReason::diverged: return "diverged";
    case StopReason::inaccurate: return "inaccurate";
  }
  return "unknown";
}

}  // namespace onset
