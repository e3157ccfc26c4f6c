#pragma once

#include <span>

#include "explore/json.hpp"
#include "onset/core/verb.hpp"

namespace onset::explore {

/// What the page is made from: {"onset": version, "threads": n, "questions": [{"question": ..,
/// "verbs": [..]}]}, each verb with its texts, parameters and columns. Every verb is under exactly
/// one question; those that no question names are under a last one.
[[nodiscard]] Json catalogue_json(std::span<const Verb> verbs, int threads);

}  // namespace onset::explore
