#pragma once

#include "onset/core/verb.hpp"
#include "onset/mha/model/inputs.hpp"

namespace onset::mha {

/// Estimated work and memory of learning from `count` examples.
[[nodiscard]] Cost learning_cost(double count, int tokens, int dim, int heads, Inputs inputs);

}  // namespace onset::mha
