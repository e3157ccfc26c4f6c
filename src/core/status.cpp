#include "onset/core/status.hpp"

namespace onset {

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::converged: return "converged";
    case StopReason::stationary: return "stationary";
    case StopReason::recovered: return "recovered";
    case StopReason::unfinished: return "unfinished";
    case StopReason::stagnated: return "stagnated";
    case StopReason::unstable: return "unstable";
    case StopReason::diverged: return "diverged";
    case StopReason::false_recovery: return "false recovery";
    case StopReason::inaccurate: return "inaccurate";
  }
  return "unknown";
}

}  // namespace onset
