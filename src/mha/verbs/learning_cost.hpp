#pragma once

#include "onset/core/verb.hpp"

namespace onset::mha {

/// Estimated work and memory of learning from `count` examples.
[[nodiscard]] Cost learning_cost(double count, int tokens, int dim, int heads);

}  // namespace onset::mha
