#include "ssi/verbs/runs_artifact.hpp"

#include "core/rows.hpp"
#include "ssi/learners/ensemble.hpp"

namespace onset::ssi {
namespace {

struct RunRow {
  std::size_t run = 0;
  double e = 0.0;
  double m = 0.0;
  std::optional<std::uint64_t> first_passage = {};
  bool converged = false;
};

Columns<RunRow> run_columns() {
  return Columns<RunRow>()
      .add("run", &RunRow::run, "number of the run")
      .add("e", &RunRow::e, "last positional overlap")
      .add("m", &RunRow::m, "last semantic overlap")
      .add("first_passage", &RunRow::first_passage, "first step at the level; empty: none")
      .add("converged", &RunRow::converged, "whether max(|e|, |m|) > 0.5 at the end");
}

}  // namespace

Artifact runs_artifact(const std::vector<SgdRun>& runs, const std::string& path) {
  std::vector<RunRow> rows;
  for (const SgdRun& run : runs) {
    RunRow row{.run = rows.size() + 1, .e = run.e, .m = run.m, .converged = is_converged(run)};
    if (run.first_passage > 0) row.first_passage = run.first_passage;
    rows.push_back(row);
  }
  return {path, run_columns().table(rows)};
}

}  // namespace onset::ssi
