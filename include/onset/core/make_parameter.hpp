#pragma once

#include <string>
#include <vector>

#include "onset/core/parameters.hpp"

namespace onset {

/// A parameter that is not required, with its range.
[[nodiscard]] Parameter make_parameter(std::string name, ParameterKind kind, Value fallback,
                                       double min, double max, std::string text);

/// One of a few words; the first is the default.
[[nodiscard]] Parameter make_word(std::string name, std::vector<std::string> words,
                                  std::string text);

}  // namespace onset
