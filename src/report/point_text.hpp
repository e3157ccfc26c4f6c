#pragma once

#include <string>
#include <vector>

#include "onset/core/parameters.hpp"
#include "onset/core/verb.hpp"

namespace onset::report {

/// The axes of a point, such as "skip = 0.5, tokens = 2"; "" without axes.
[[nodiscard]] std::string axis_text(const std::vector<std::string>& axes,
                                    const std::vector<Value>& values);

/// The command line that computes a point, quoted for a shell: `onset smi curve --alpha 0.1,0.2`.
/// Parameters that have the default of the verb `defaults` are left out (none if that is null).
[[nodiscard]] std::string command_line(const std::string& command, const Parameters& parameters,
                                       const Verb* defaults);

/// The command that exports a study whole.
[[nodiscard]] std::string export_command(const std::string& study, const std::string& store);

/// A word as a shell reads it back.
[[nodiscard]] std::string shell_word(const std::string& text);
/// The same for a file, which the command then does not take for an option.
[[nodiscard]] std::string file_word(const std::string& name);

}  // namespace onset::report
