#pragma once

#include <vector>

#include "onset/core/verb.hpp"

namespace onset::mha {

/// The verbs of the family: generate, learn, verify, evaluate, baseline, trial.
[[nodiscard]] std::vector<Verb> verbs();

}  // namespace onset::mha
