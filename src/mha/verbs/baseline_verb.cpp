#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "mha/baseline/baseline.hpp"
#include "mha/model/certificate.hpp"
#include "mha/verbs/array_files.hpp"
#include "mha/verbs/baseline_cost.hpp"
#include "mha/verbs/folder_fields.hpp"
#include "mha/verbs/phase_columns.hpp"
#include "onset/mha.hpp"

namespace onset::mha {
namespace {

Columns<BaselineRun> run_columns() {
  return Columns<BaselineRun>()
      .add("method", &BaselineRun::method, "lm or adam")
      .add("start", &BaselineRun::start, "which random start")
      .add("evaluations", &BaselineRun::evaluations,
           "evaluations of the layer, in examples; a gradient counts as two")
      .add("residual", &BaselineRun::residual, residual_text)
      .add("solved", &BaselineRun::solved, "whether that is below 1e-6");
}

void summarise(const std::vector<BaselineRun>& runs, const std::string& method, Result& result) {
  std::int64_t solved = 0;
  double seconds = 0.0;
  double first = -1.0;
  for (const BaselineRun& run : runs) {
    if (run.method != method) continue;
    seconds += run.seconds;
    if (run.solved && ++solved == 1) first = seconds;
  }
  result.summary.emplace_back(method + "_solved", solved);
  result.summary.emplace_back(method + "_seconds", seconds);
  result.summary.emplace_back(method + "_seconds_to_first", first < 0.0 ? Cell() : Cell(first));
}

/// Recovered when some start solved it; a residual that is no number is never passed over.
void judge(const std::vector<BaselineRun>& runs, const BaselineRun& best, Result& result) {
  const auto diverged = std::count_if(runs.begin(), runs.end(), [](const BaselineRun& run) {
    return !std::isfinite(run.residual);
  });
  std::string reason = "fits held-out examples; least squares from random starts certifies nothing";
  if (!best.solved) {
    reason =
        fmt::format("no start leaves less than {:.0e} of the held-out labels", solved_residual);
    if (std::isfinite(best.residual)) reason += fmt::format("; the best {:.2g}", best.residual);
  }
  if (diverged > 0) reason += fmt::format("; {} of {} runs diverged", diverged, runs.size());
  if (!best.solved || diverged > 0) result.unconverged(reason);
  result.summary.emplace_back("verdict",
                              to_string(best.solved ? Verdict::recovered : Verdict::refused));
  result.summary.emplace_back("reason", reason);
}

std::vector<BaselineRun> runs_of(const Baseline& request, const Examples& examples,
                                 const Context& context, Result& result) {
  BaselineOptions options;
  options.heads = request.heads;
  options.starts = request.starts;
  options.scale = request.scale;
  options.lm_steps = request.lm_steps;
  options.adam_steps = request.adam_steps;
  options.seed = request.seed;
  const auto columns = run_columns();
  const auto add = [&](const BaselineRun& run) { result.table.add_row(columns.cells(run)); };
  try {
    return run_baseline(examples, options, context, add);
  } catch (const Refused& refusal) {
    result.summary = {{"verdict", to_string(Verdict::refused)},
                      {"reason", std::string(refusal.what())}};
    throw;
  }
}

ExampleFiles settle_baseline(Baseline& request) {
  ExampleFiles files = find_examples(request.examples, request.inputs);
  request.inputs = files.inputs;
  return files;
}

void run_baseline_verb(const Baseline& request, const ExampleFiles& files, const Context& context,
                       Result& result) {
  const Examples examples = read_examples(files);
  const std::vector<BaselineRun> runs = runs_of(request, examples, context, result);
  const BaselineRun* best = &runs.front();
  for (const BaselineRun& run : runs) {
    if (run.residual < best->residual || std::isnan(best->residual)) best = &run;
  }
  judge(runs, *best, result);
  summarise(runs, "lm", result);
  if (request.adam_steps > 0) summarise(runs, "adam", result);
  result.notes.emplace_back(
      "Seconds are wall-clock times of this machine; everything else is the same every time.");
  if (std::isfinite(best->residual)) add_layer(best->layer, "", result.artifacts);
}

Cost baseline_cost(const Baseline& request, const ExampleFiles& files) {
  return {prose(R"(
      From each random start: Levenberg-Marquardt on theta with w eliminated (variable
      projection) on a few hundred examples, then Adam on theta and w with minibatches of all.)"),
          baseline_seconds({request.heads, request.starts, request.lm_steps, request.adam_steps},
                           files.tokens, files.dim),
          2.0 * 16.0 * files.entries() + 2e8};
}

}  // namespace

VerbOf<Baseline> Baseline::verb() {
  Definition<Baseline, ExampleFiles> d;
  d.family = "mha";
  d.name = "baseline";
  d.method = 2;
  d.summary = "plain optimisation from random starts, for comparison with mha learn";
  d.details = prose(R"(
      Runs Levenberg-Marquardt by variable projection, and Adam, each from `starts` random
      layers within a budget of steps. On generic layers the first solves nearly every start;
      what it lacks is the number of heads and a certificate. The verdict is recovered when the
      best start leaves less than 1e-6 of the held-out labels, and refused otherwise. A residual
      is that of one run and has no error.)");
  d.fields = examples_and_inputs_fields<Baseline>();
  d.fields
      .add("heads", &Baseline::heads, {.min = 1, .max = max_heads},
           "Number of heads, which the baseline must be told.")
      .add("starts", &Baseline::starts, {.min = 1, .max = 10'000}, "Random starts of each method.")
      .add("scale", &Baseline::scale, {.min = 1e-6, .max = 1e3},
           "Frobenius norm of a random theta.")
      .add("lm-steps", &Baseline::lm_steps, {.min = 1, .max = 100'000},
           "Budget of a Levenberg-Marquardt start, in Jacobians.")
      .add("adam-steps", &Baseline::adam_steps, {.min = 0, .max = 10'000'000},
           "Budget of an Adam start, in minibatches of 64; 0: no Adam.");
  d.rows = {{"", run_columns().list()}};
  d.examples = {"mha baseline examples --heads 2 --starts 8"};
  d.settle = settle_baseline;
  d.cost = baseline_cost;
  d.run = run_baseline_verb;
  return d.verb();
}

}  // namespace onset::mha
