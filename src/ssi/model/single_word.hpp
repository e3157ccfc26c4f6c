#pragma once

#include <string>

namespace onset::ssi {

/// Whether a text is one name, such as relu or H2sum, and not an expression: u, pi and L are
/// expressions by themselves.
[[nodiscard]] bool is_single_word(const std::string& text);

}  // namespace onset::ssi
