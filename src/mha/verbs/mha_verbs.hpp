#pragma once

#include "onset/core/verb.hpp"

/// The verbs of the family, one file each.
namespace onset::mha {

[[nodiscard]] Verb generate_verb();
[[nodiscard]] Verb learn_verb();
[[nodiscard]] Verb verify_verb();
[[nodiscard]] Verb evaluate_verb();
[[nodiscard]] Verb baseline_verb();
[[nodiscard]] Verb trial_verb();

}  // namespace onset::mha
