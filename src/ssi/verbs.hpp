#pragma once

#include <vector>

#include "onset/core/verb.hpp"

namespace onset::ssi {

/// The verbs of the family: sie, loss, phase, flow, sgd, gain.
[[nodiscard]] std::vector<Verb> verbs();

}  // namespace onset::ssi
