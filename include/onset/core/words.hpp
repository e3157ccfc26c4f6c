#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace onset {

/// The candidate nearest to `word` in edit distance, or "" when none is near enough to be meant.
[[nodiscard]] std::string nearest_word(std::string_view word,
                                       std::span<const std::string> candidates);

/// "; did you mean 'x'?" for the nearest candidate, or "".
[[nodiscard]] std::string suggestion(std::string_view word,
                                     std::span<const std::string> candidates);

/// The same for options: compared without their hyphens (which would make any two words look
/// alike), suggested with them.
[[nodiscard]] std::string option_suggestion(std::string_view option,
                                            std::span<const std::string> names);

/// Characters of a user's text that a message repeats.
inline constexpr std::size_t longest_shown = 80;

/// A text of others as a message may show it: control characters and bytes that are not UTF-8 are
/// written as \x1b, so that no terminal obeys them, and of more than `most` characters the middle
/// is left out. Newlines and tabs stay as they are.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = longest_shown);

/// The same between single quotes and on one line: newlines and tabs are written out too.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace onset
