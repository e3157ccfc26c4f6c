#include "tool/commands/commands.hpp"

#include <vector>

#include "tool/options/common_options.hpp"

namespace onset::tool {

std::span<const Command> commands() {
  static const std::vector<Command> all = {
      {"list", "Every verb and command with a line on what it does", list_command, show_parameters},
      {"figure", "Computes and draws a paper's figure: figure ID; figure list names them",
       figure_command, figure_parameters, "ID|FILE.toml|list"},
      {"sweep", "Computes what is missing of a study: sweep STUDY.toml --store FILE", sweep_command,
       sweep_parameters, "FILE.toml"},
      {"export", "The rows of a study as one table: export FILE --format csv|json|npy",
       export_command, export_parameters, "FILE"},
      {"merge", "Joins stores, say of the shards of a study: merge OUT IN..", merge_command,
       merge_parameters, "FILE"},
      {"report", "One HTML page with all of a store: report FILE --out PAGE.html", report_command,
       report_parameters, "FILE"},
      {"submit",
       "Writes the job scripts of a study for a cluster: submit slurm STUDY.toml --jobs N",
       submit_command, submit_parameters, "slurm"},
      {"serve", "A page in the browser to explore models and watch studies: serve --store FILE..",
       serve_command, serve_parameters},
      {"doctor", "What this build and this machine offer", doctor_command, show_parameters},
      {"completion", "Completion of every word and option, for a shell to source",
       completion_command, nullptr, "bash|zsh|fish"},
      {"man", "The manual page of all this, for man -l", man_command},
  };
  return all;
}

}  // namespace onset::tool
