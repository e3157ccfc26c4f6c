#include "tool/commands.hpp"

#include <vector>

namespace onset::tool {

std::span<const Command> commands() {
  static const std::vector<Command> all = {
      {"list", "Every verb with a line on what it computes", list_command},
      {"figure", "Computes and draws a paper's figure: figure ID; figure list names them",
       figure_command},
      {"doctor", "What this build and this machine offer", doctor_command},
  };
  return all;
}

}  // namespace onset::tool
