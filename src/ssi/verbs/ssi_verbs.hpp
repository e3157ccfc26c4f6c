#pragma once

#include "onset/core/verb.hpp"

/// The verbs of the family, one file each.
namespace onset::ssi {

[[nodiscard]] Verb sie_verb();
[[nodiscard]] Verb loss_verb();
[[nodiscard]] Verb phase_verb();
[[nodiscard]] Verb flow_verb();
[[nodiscard]] Verb sgd_verb();
[[nodiscard]] Verb gain_verb();

}  // namespace onset::ssi
