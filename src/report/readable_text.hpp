#pragma once

#include <string>
#include <string_view>

namespace onset::report {

/// Somebody's text made fit for scripts, pages and pictures: valid UTF-8 without control characters
/// other than tabs and ends of lines. Everything else is replaced by the character U+FFFD.
[[nodiscard]] std::string readable_text(std::string_view text);

}  // namespace onset::report
