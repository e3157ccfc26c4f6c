#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "onset/core/parameters.hpp"

namespace onset::tool {

/// The words after the command's own name.
using Arguments = std::span<const std::string>;

/// Reads `--name value` and `--name=value` for the known parameters; a flag takes no value, and
/// bare words go to the parameters that are operands, in order. Throws InvalidArgument for unknown
/// or repeated options, missing values and stray words.
///
/// This is written by hand rather than with CLI11: the options come from the catalogue, whose
/// parameters already read, check and explain their values. A second model of options would only
/// bring its own messages and exit codes, to be translated.
[[nodiscard]] std::map<std::string, Value> read_options(Arguments arguments,
                                                        std::span<const Parameter> known);

/// Whether --help or -h occurs anywhere.
[[nodiscard]] bool wants_help(Arguments arguments);

}  // namespace onset::tool
