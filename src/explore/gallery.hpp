#pragma once

#include <filesystem>
#include <vector>

#include "explore/json.hpp"

namespace onset::explore {

/// The papers' figures: id, title, caption and command of each, and its runs as calls that the page
/// can open: {"id": .., "command": .., "given": {..}, "axes": {..}}, at the quick size. Runs with
/// parameters that are tied to others are left out.
[[nodiscard]] Json gallery_json(const std::vector<std::filesystem::path>& folders);

}  // namespace onset::explore
