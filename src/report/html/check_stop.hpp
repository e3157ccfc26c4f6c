#pragma once

#include <stop_token>

#include "onset/core/error.hpp"

namespace onset::report::html {

/// Throws Interrupted when a stop was requested. Cheap enough for every row of a table.
inline void check_stop(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Interrupted();
}

}  // namespace onset::report::html
