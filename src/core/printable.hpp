#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace onset {

/// Characters of a user's text that a message repeats.
inline constexpr std::size_t longest_shown = 80;

/// A text of others as a message may show it: control characters and bytes that are not UTF-8 are
/// written as \x1b, so that no terminal obeys them, and of more than `most` characters the middle
/// is left out. Newlines and tabs stay as they are.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = longest_shown);

/// The same between single quotes and on one line: newlines and tabs are written out too.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace onset
