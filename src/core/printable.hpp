#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace onset {

/// How many characters of a user's text a message repeats.
inline constexpr std::size_t longest_shown = 80;

/// Somebody else's text as a message may show it. Control characters and bytes that are not UTF-8
/// are written as \x1b, so that no terminal obeys them, and a text of more than `most` characters
/// loses its middle. Newlines and tabs stay as they are.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = longest_shown);

/// The same between single quotes and on one line: newlines and tabs are written out too.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace onset
