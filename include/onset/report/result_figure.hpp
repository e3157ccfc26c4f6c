#pragma once

#include <filesystem>
#include <vector>

#include "onset/core/verb.hpp"

namespace onset::report {

/// Draws the result of one call of a verb as figure.svg, figure.pdf and figure.png into the folder;
/// returns them, or nothing for a table that has nothing to be drawn against. Throws IoError.
std::vector<std::filesystem::path> draw_result(const Verb& verb, const Table& table,
                                               const std::filesystem::path& folder);

}  // namespace onset::report
