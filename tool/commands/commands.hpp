#pragma once

#include <span>
#include <string>
#include <vector>

#include "onset/core/verb.hpp"
#include "tool/options/arguments.hpp"

namespace onset::tool {

/// A command beside the families, say `onset list`. The function gets the words after its name and
/// returns the exit code; it may throw as verbs do. Completion and the man page are made from the
/// rest of it.
struct Command {
  std::string name;
  std::string summary;
  int (*run)(Arguments arguments);
  std::vector<Parameter> (*options)() = nullptr;  ///< null means --help only
  /// What stands between the name and the options: alternatives such as "ID|FILE.toml|list". Those
  /// in lower case are meant literally, ID is what `onset <name> list` lists, and FILE is a file.
  std::string words = {};
};

/// All of them, in the order of the help text. A new one is a line in commands.cpp.
[[nodiscard]] std::span<const Command> commands();

int list_command(Arguments arguments);
int figure_command(Arguments arguments);
int doctor_command(Arguments arguments);
int completion_command(Arguments arguments);
int man_command(Arguments arguments);
int sweep_command(Arguments arguments);
int export_command(Arguments arguments);
int merge_command(Arguments arguments);
int report_command(Arguments arguments);
int submit_command(Arguments arguments);
int serve_command(Arguments arguments);

[[nodiscard]] std::vector<Parameter> figure_parameters();
[[nodiscard]] std::vector<Parameter> sweep_parameters();
[[nodiscard]] std::vector<Parameter> export_parameters();
[[nodiscard]] std::vector<Parameter> merge_parameters();
[[nodiscard]] std::vector<Parameter> report_parameters();
[[nodiscard]] std::vector<Parameter> submit_parameters();
[[nodiscard]] std::vector<Parameter> serve_parameters();

/// Runs a verb of the catalogue with the words after its name.
int run_verb(const Verb& verb, Arguments arguments);

}  // namespace onset::tool
