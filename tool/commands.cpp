#include "tool/commands.hpp"

#include <vector>

namespace onset::tool {

std::span<const Command> commands() {
  static const std::vector<Command> all = {
      {"list", "Every verb with a line on what it computes", list_command},
      {"figure", "Computes and draws a paper's figure: figure ID; figure list names them",
       figure_command},
      {"sweep", "Computes what is missing of a study: sweep STUDY.toml --store FILE",
       sweep_command},
      {"export", "The rows of a study as one table: export FILE --format csv|json|npy",
       export_command},
      {"merge", "Joins stores, say of the shards of a study: merge OUT IN..", merge_command},
      {"report", "One HTML page with all of a store: report FILE --out PAGE.html", report_command},
      {"doctor", "What this build and this machine offer", doctor_command},
  };
  return all;
}

}  // namespace onset::tool
