#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "onset/core/verb.hpp"

namespace onset::report {

/// Draws the result of one call of a verb as figure.svg, figure.pdf and figure.png into the folder,
/// unless the table has nothing to be drawn against. Returns what is not drawn, for people. Throws
/// DrawingFailed when gnuplot is not there or fails, IoError when files cannot be written, and
/// Interrupted.
std::vector<std::string> draw_result(const Verb& verb, const Table& table,
                                     const std::filesystem::path& folder,
                                     const std::stop_token& stop = {});

}  // namespace onset::report
