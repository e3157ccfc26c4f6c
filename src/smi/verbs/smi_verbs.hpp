#pragma once

#include "onset/core/verb.hpp"

/// The verbs of the family, one file each.
namespace onset::smi {

[[nodiscard]] Verb thresholds_verb();
[[nodiscard]] Verb curve_verb();
[[nodiscard]] Verb potential_verb();
[[nodiscard]] Verb generate_verb();
[[nodiscard]] Verb amp_verb();
[[nodiscard]] Verb sgd_verb();
[[nodiscard]] Verb text_verb();

}  // namespace onset::smi
