#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace onset {

/// How many characters of a user's text a message repeats.
inline constexpr std::size_t longest_shown = 80;

/// For texts that are shown whole.
inline constexpr std::size_t all_of_it = static_cast<std::size_t>(-1);

/// Somebody else's text as a message may show it. Control characters, marks that turn the direction
/// of writing and bytes that are not UTF-8 are written as \x1b, so that no terminal obeys them, and
/// a text of more than `most` characters loses its middle. Newlines and tabs stay as they are.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = longest_shown);

/// The same on one line: newlines and tabs are written out too.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t most = longest_shown);

/// The same between single quotes.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace onset
