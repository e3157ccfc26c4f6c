#pragma once

#include <vector>

#include "onset/core/verb.hpp"

namespace onset::aim {

/// The verbs of the family: curve, thresholds, potential, spectrum, erm, amp, gd, flow, sgd,
/// generate.
[[nodiscard]] std::vector<Verb> verbs();

}  // namespace onset::aim
