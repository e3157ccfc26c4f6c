#pragma once

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

}  // namespace onset
