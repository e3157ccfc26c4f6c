#pragma once

#include <string>
#include <string_view>

namespace onset::report {

/// Somebody's text made fit for scripts, pages and pictures: valid UTF-8 of characters that are
/// seen, tabs and ends of lines. Everything else (core/characters) is replaced by U+FFFD.
[[nodiscard]] std::string readable_text(std::string_view text);

}  // namespace onset::report
