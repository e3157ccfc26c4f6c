#pragma once

#include <string_view>

namespace onset::mha {

/// What the entries of the tokens are.
enum class Inputs {
  boolean,   ///< 1 and -1, each with probability one half
  gaussian,  ///< independent and standard normal
};

[[nodiscard]] std::string_view to_string(Inputs inputs);

}  // namespace onset::mha
