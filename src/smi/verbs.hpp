#pragma once

#include <vector>

#include "onset/core/verb.hpp"

namespace onset::smi {

/// The verbs of the family, in the order of the help.
[[nodiscard]] std::vector<Verb> verbs();

}  // namespace onset::smi
