#pragma once

#include <string>

#include "onset/core/parameters.hpp"

namespace onset {

/// A folder that must be given; `operand`: also as a bare word.
[[nodiscard]] Parameter make_folder(std::string name, bool operand, std::string text);

}  // namespace onset
