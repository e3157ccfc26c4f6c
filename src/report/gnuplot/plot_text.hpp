#pragma once

#include <string>
#include <string_view>

namespace onset::report {

/// The only way for text to get into a script: a string in single quotes on one line. Inside them
/// gnuplot runs no commands, expands no macros and knows no escapes. The markup of labels (Q_{11},
/// 10^{-3}, {/Symbol w}) still works, as far as it cannot leave the text of an SVG: gnuplot writes
/// names of fonts there as they are, so other characters than those of plain names make no font.
[[nodiscard]] std::string plot_text(std::string_view text);

/// Text whose characters are meant as they are, none of them as markup; for labels made of names
/// and values.
[[nodiscard]] std::string literal_text(std::string_view text);

/// Roughly the number of characters of a label that are seen.
[[nodiscard]] std::size_t seen_length(std::string_view label);

}  // namespace onset::report
