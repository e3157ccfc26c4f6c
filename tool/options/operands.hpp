#pragma once

#include <span>
#include <string>
#include <vector>

#include "tool/options/arguments.hpp"

namespace onset::tool {

/// The words of a command that belong to no option (files, mostly), wherever they stand, and the
/// options with their values.
struct Operands {
  std::vector<std::string> words;
  std::vector<std::string> options;  ///< for read_options()
};

[[nodiscard]] Operands split_operands(Arguments arguments, std::span<const Parameter> known);

}  // namespace onset::tool
