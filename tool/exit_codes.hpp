#pragma once

namespace onset::tool {

/// The exit codes of the command; users' scripts rely on them.
enum ExitCode : int {
  exit_ok = 0,
  exit_internal = 1,
  exit_usage = 2,
  exit_unresolved = 3,  ///< not converged, refused, or out of time; rows are still printed
  exit_files = 4,       ///< files and stores; too little memory or too few threads
  exit_interrupted = 130,
};

}  // namespace onset::tool
