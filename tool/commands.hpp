#pragma once

#include <span>
#include <string>

#include "onset/core/verb.hpp"
#include "tool/arguments.hpp"

namespace onset::tool {

/// A command beside the families, say `onset list`. The function gets the words after its name and
/// returns the exit code; it may throw as verbs do.
struct Command {
  std::string name;
  std::string summary;
  int (*run)(Arguments arguments);
};

/// All of them, in the order of the help text. A new one is a line in commands.cpp.
[[nodiscard]] std::span<const Command> commands();

int list_command(Arguments arguments);
int figure_command(Arguments arguments);
int doctor_command(Arguments arguments);
int sweep_command(Arguments arguments);
int export_command(Arguments arguments);
int merge_command(Arguments arguments);
int report_command(Arguments arguments);

/// Runs a verb of the catalogue with the words after its name.
int run_verb(const Verb& verb, Arguments arguments);

}  // namespace onset::tool
