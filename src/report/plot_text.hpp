#pragma once

#include <string>
#include <string_view>

namespace onset::report {

/// A string of the script, in single quotes: inside them gnuplot runs no commands and knows no
/// escapes. The markup of labels (Q_{11}, 10^{-3}) still works.
[[nodiscard]] std::string plot_text(std::string_view text);

/// Text whose characters are meant as they are, none of them as markup; for labels made of names
/// and values.
[[nodiscard]] std::string literal_text(std::string_view text);

/// About how many characters of a label are seen.
[[nodiscard]] std::size_t seen_length(std::string_view label);

}  // namespace onset::report
