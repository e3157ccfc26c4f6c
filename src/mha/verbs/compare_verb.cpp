#include <algorithm>
#include <cmath>
#include <limits>

#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "mha/baseline/baseline.hpp"
#include "mha/learners/six_phases.hpp"
#include "mha/verbs/baseline_cost.hpp"
#include "mha/verbs/instance_fields.hpp"
#include "mha/verbs/learning_cost.hpp"
#include "mha/verbs/phase_columns.hpp"
#include "onset/mha.hpp"

namespace onset::mha {
namespace {

struct CompareRow {
  std::string method;
  int runs = 0;
  int solved = 0;
  std::optional<double> residual = {};
  std::optional<std::int64_t> evaluations = {};
  std::optional<Estimate> evaluations_needed = {};
  std::string verdict;
};

Columns<CompareRow> compare_columns() {
  return Columns<CompareRow>()
      .add("method", &CompareRow::method, "phases (mha learn), lm or adam (mha baseline)")
      .add("runs", &CompareRow::runs, "how often it was tried: starts of lm and adam")
      .add("solved", &CompareRow::solved, "runs that leave less than 1e-6 of held-out labels")
      .add("residual", &CompareRow::residual, "the best run's relative residual on these")
      .add(
          "evaluations", &CompareRow::evaluations,
          "evaluations of the layer in all runs, in examples; a gradient counts as two; the phases "
          "evaluate it in their net and polish alone")
      .add("evaluations_needed", &CompareRow::evaluations_needed,
           "evaluations per solved run; empty where none was solved: more than all that were spent")
      .add("verdict", &CompareRow::verdict,
           "certified, recovered or refused; of lm and adam, which certify and refuse nothing, "
           "recovered or failed");
}

/// Evaluations until a restarted method succeeds: all that were spent over the number of successes.
/// The error has the scatter of that number, as a count out of the runs, and of what a run takes.
std::optional<Estimate> needed(const std::vector<double>& spent, int solved) {
  if (solved == 0) return std::nullopt;
  const auto runs = static_cast<double>(spent.size());
  double total = 0.0;
  for (const double one : spent) total += one;
  const double mean = total / runs;
  double scatter = 0.0;
  for (const double one : spent) scatter += (one / mean - 1.0) * (one / mean - 1.0);
  const double value = total / solved;
  if (spent.size() < 2) return Estimate{value, std::numeric_limits<double>::quiet_NaN()};
  const double failing = 1.0 - solved / runs;
  const double relative = std::sqrt(failing / solved + scatter / (runs * (runs - 1.0)));
  return Estimate{value, value * relative};
}

CompareRow summary_of(const std::vector<BaselineRun>& runs, const std::string& method) {
  CompareRow row{.method = method, .verdict = "failed"};
  std::vector<double> spent;
  double best = std::numeric_limits<double>::infinity();
  for (const BaselineRun& run : runs) {
    if (run.method != method) continue;
    ++row.runs;
    row.solved += run.solved ? 1 : 0;
    spent.push_back(static_cast<double>(run.evaluations));
    row.evaluations = row.evaluations.value_or(0) + static_cast<std::int64_t>(run.evaluations);
    if (run.residual < best) best = run.residual;
  }
  row.residual = finite(best);
  row.evaluations_needed = needed(spent, row.solved);
  if (row.solved > 0) row.verdict = to_string(Verdict::recovered);
  return row;
}

CompareRow row_of(const Learned& learned) {
  CompareRow row{.method = "phases", .runs = 1, .verdict = to_string(learned.verdict)};
  row.evaluations = static_cast<std::int64_t>(learned.evaluations);
  if (learned.verdict == Verdict::refused) return row;
  row.residual = learned.residual;
  row.solved = learned.residual <= solved_residual ? 1 : 0;
  row.evaluations_needed = needed({static_cast<double>(learned.evaluations)}, row.solved);
  return row;
}

void run_compare(const Compare& request, const InstanceLaw& law, const Context& context,
                 Result& result) {
  const Examples examples =
      draw_examples(law, draw_layer(law, request.seed), static_cast<std::size_t>(request.samples),
                    request.seed, "mha examples", context);
  const auto columns = compare_columns();
  const Learned learned = learn(examples, {}, context);
  if (learned.interrupted) throw Interrupted();
  result.table.add_row(columns.cells(row_of(learned)));
  result.summary = {{"verdict", to_string(learned.verdict)},
                    {"heads_found", std::int64_t{learned.heads}}};
  if (!learned.reason.empty()) result.summary.emplace_back("reason", learned.reason);
  BaselineOptions options;
  options.heads = law.heads;
  options.starts = request.starts;
  options.scale = std::max(law.scale, 1e-6);
  options.lm_steps = request.lm_steps;
  options.adam_steps = request.adam_steps;
  options.seed = request.seed;
  const std::vector<BaselineRun> runs = run_baseline(examples, options, context);
  result.table.add_row(columns.cells(summary_of(runs, "lm")));
  if (request.adam_steps > 0) result.table.add_row(columns.cells(summary_of(runs, "adam")));
}

Cost compare_cost(const Compare& request, const InstanceLaw& law) {
  Cost cost = learning_cost(static_cast<double>(request.samples), law.tokens, law.dim, law.heads,
                            law.inputs);
  const BaselineBudget budget{law.heads, request.starts, request.lm_steps, request.adam_steps};
  cost.method = prose(R"(
      The six phases of mha learn, then Levenberg-Marquardt and Adam from random starts as in
      mha baseline, on the same examples.)");
  cost.core_seconds += baseline_seconds(budget, law.tokens, law.dim);
  return cost;
}

}  // namespace

VerbOf<Compare> Compare::verb() {
  Definition<Compare, InstanceLaw> d;
  d.family = "mha";
  d.name = "compare";
  d.summary = "draws a layer and lets the six phases, least squares and Adam try to learn it";
  d.details = prose(R"(
      One layer and one set of examples, without files, for studies and figures: what mha learn
      says, and how many evaluations of the layer plain optimisation needs, restarts included. It
      is told the number of heads, which the phases must find. With `degenerate = parity` the layer is
      one of the worst case: no method that looks at averages over examples alone finds its bits
      without trying them. A refusal is a result here, not a failure.)");
  d.method = 3;
  d.fields = instance_fields<Compare>();
  d.fields
      .add("starts", &Compare::starts, {.min = 1, .max = 10'000},
           "Random starts of lm and of adam.")
      .add("lm-steps", &Compare::lm_steps, {.min = 1, .max = 100'000},
           "Budget of a Levenberg-Marquardt start, in Jacobians.")
      .add("adam-steps", &Compare::adam_steps, {.min = 0, .max = 10'000'000},
           "Budget of an Adam start, in minibatches of 64; 0: no Adam.");
  d.rows = {{"", compare_columns().list()}};
  d.primary = "evaluations_needed";
  d.examples = {"mha compare --heads 4 --dim 8 --degenerate parity --samples 20000",
                "mha compare --heads 4 --dim 8 --samples 20000 --adam-steps 0"};
  d.settle = settle_instance<Compare>;
  d.cost = compare_cost;
  d.run = run_compare;
  return d.verb();
}

}  // namespace onset::mha
