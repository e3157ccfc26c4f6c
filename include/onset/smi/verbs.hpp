#pragma once

#include <vector>

#include "onset/core/verb.hpp"

namespace onset::smi {

/// The verbs of the family: thresholds, curve.
[[nodiscard]] std::vector<Verb> verbs();

}  // namespace onset::smi
