#pragma once

#include "onset/core/verb.hpp"

/// The verbs of the family, one file each.
namespace onset::aim {

[[nodiscard]] Verb curve_verb();
[[nodiscard]] Verb thresholds_verb();
[[nodiscard]] Verb spectrum_verb();
[[nodiscard]] Verb erm_verb();
[[nodiscard]] Verb amp_verb();
[[nodiscard]] Verb gd_verb();
[[nodiscard]] Verb generate_verb();

}  // namespace onset::aim
