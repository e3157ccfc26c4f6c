#pragma once

#include <filesystem>
#include <stop_token>
#include <vector>

#include "onset/core/verb.hpp"

namespace onset::report {

/// Draws the result of one call of a verb as figure.svg, figure.pdf and figure.png into the folder;
/// returns them, or nothing for a table that has nothing to be drawn against. Throws DrawingFailed
/// when gnuplot is not there or fails, IoError when files cannot be written, and Interrupted.
std::vector<std::filesystem::path> draw_result(const Verb& verb, const Table& table,
                                               const std::filesystem::path& folder,
                                               const std::stop_token& stop = {});

}  // namespace onset::report
