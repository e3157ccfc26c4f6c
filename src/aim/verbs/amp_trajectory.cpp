#include "aim/verbs/amp_trajectory.hpp"

#include <cmath>
#include <optional>

#include "core/rows.hpp"

namespace onset::aim {
namespace {

/// One iteration; what is not known is empty.
struct StepRow {
  double alpha = 0.0;
  int run = 0;
  int iteration = 0;
  std::optional<double> mse;
  std::optional<double> variance;
  std::optional<double> overlap;
  std::optional<double> self_overlap;
  std::optional<double> qhat;
  std::optional<double> step;
  double min_eigenvalue = 0.0;
  double max_eigenvalue = 0.0;
};

Columns<StepRow> step_columns() {
  return Columns<StepRow>()
      .add("alpha", &StepRow::alpha, "sample ratio")
      .add("run", &StepRow::run, "from 1")
      .add("iteration", &StepRow::iteration, "from 1")
      .add("mse", &StepRow::mse, "||S_hat - S||_F^2/d")
      .add("variance", &StepRow::variance, "the algorithm's own estimate of it")
      .add("overlap", &StepRow::overlap, "Tr(S S_hat)/d")
      .add("self_overlap", &StepRow::self_overlap,
           "||S_hat||_F^2/d; equal to overlap on the Nishimori line")
      .add("qhat", &StepRow::qhat, "precision of the matrix as the labels show it")
      .add("step", &StepRow::step, "||S_hat' - S_hat||_F^2/d")
      .add("min_eigenvalue", &StepRow::min_eigenvalue, "of that matrix")
      .add("max_eigenvalue", &StepRow::max_eigenvalue, "of that matrix");
}

std::optional<double> known(double x) {
  return std::isfinite(x) ? std::optional(x) : std::nullopt;
}

}  // namespace

Table trajectory_table() {
  return step_columns().table();
}

void add_steps(double alpha, int run, const AmpRun& amp, Table& table) {
  const auto columns = step_columns();
  int iteration = 0;
  for (const AmpStep& s : amp.steps) {
    table.add_row(columns.cells({.alpha = alpha,
                                 .run = run,
                                 .iteration = ++iteration,
                                 .mse = known(s.mse),
                                 .variance = known(s.variance),
                                 .overlap = known(s.overlap),
                                 .self_overlap = known(s.self_overlap),
                                 .qhat = known(s.conjugate),
                                 .step = known(s.step),
                                 .min_eigenvalue = s.min_eigenvalue,
                                 .max_eigenvalue = s.max_eigenvalue}));
  }
}

}  // namespace onset::aim
