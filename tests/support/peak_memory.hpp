#pragma once

#include <sys/resource.h>

namespace onset::testing {

/// The most memory that this process has had so far, in bytes.
inline double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

}  // namespace onset::testing
