#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "onset/core/error.hpp"
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

/// The complaint with the field called as the command calls it, where it is one of the options, and
/// with the options that its message mentions.
[[nodiscard]] InvalidArgument as_option(const InvalidArgument& error,
                                        std::span<const Parameter> known);

/// Calls `body`; its complaints speak of options.
template <class Body>
auto naming_options(std::span<const Parameter> known, const Body& body) {
  try {
    return body();
  } catch (const InvalidArgument& error) {
    throw as_option(error, known);
  }
}

/// Whether --help or -h occurs anywhere.
[[nodiscard]] bool wants_help(Arguments arguments);

}  // namespace onset::tool
