#include "tool/commands.hpp"

#include <vector>

#include "tool/common_options.hpp"

namespace onset::tool {

std::span<const Command> commands() {
  static const std::vector<Command> all = {
      {"list", "Every verb with a line on what it computes", list_command, show_parameters},
      {"figure", "Computes and draws a paper's figure: figure ID; figure list names them",
       figure_command, nullptr, "ID|FILE.toml|list"},
      {"doctor", "What this build and this machine offer", doctor_command, show_parameters},
      {"completion", "Completion of every word and option, for a shell to source",
       completion_command, nullptr, "bash|zsh"},
      {"man", "The manual page of all this, for man -l", man_command},
  };
  return all;
}

}  // namespace onset::tool
