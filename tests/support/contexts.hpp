#pragma once

#include "onset/core/context.hpp"

namespace onset::testing {

inline Context with_threads(int threads) {
  Context context;
  context.threads = threads;
  return context;
}

}  // namespace onset::testing
