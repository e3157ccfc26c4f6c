#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/plain_verb.hpp"
#include "mha/baseline/baseline.hpp"
#include "mha/verbs/files.hpp"
#include "mha/verbs/mha_verbs.hpp"
#include "mha/verbs/options.hpp"
#include "onset/core/error.hpp"

namespace onset::mha {
namespace {

/// Held-out residuals below this count as a success.
constexpr double solved_residual = 1e-6;

BaselineOptions read_options(const Parameters& p) {
  BaselineOptions options;
  options.heads = static_cast<int>(p.integer("heads"));
  options.starts = static_cast<int>(p.integer("starts"));
  options.scale = p.real("scale");
  options.lm_steps = static_cast<int>(p.integer("lm-steps"));
  options.adam_steps = static_cast<int>(p.integer("adam-steps"));
  options.seed = static_cast<std::uint64_t>(p.integer("seed"));
  return options;
}

void summarise(const std::vector<BaselineRun>& runs, const std::string& method, Result& result) {
  std::int64_t solved = 0;
  double seconds = 0.0;
  double first = -1.0;
  for (const BaselineRun& run : runs) {
    if (run.method != method) continue;
    seconds += run.seconds;
    if (!(run.residual <= solved_residual)) continue;  // also what is not a number
    if (++solved == 1) first = seconds;
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
  const bool solved = best.residual <= solved_residual;
  std::string reason = "fits held-out examples; least squares from random starts certifies nothing";
  if (!solved) {
    reason =
        fmt::format("no start leaves less than {:.0e} of the held-out labels", solved_residual);
    if (std::isfinite(best.residual)) reason += fmt::format("; the best {:.2g}", best.residual);
  }
  if (diverged > 0) reason += fmt::format("; {} of {} runs diverged", diverged, runs.size());
  if (!solved || diverged > 0) {
    result.status = ResultStatus::unconverged;
    result.reason = reason;
  }
  const Verdict verdict = solved ? Verdict::recovered : Verdict::refused;
  result.summary.emplace_back("verdict", to_string(verdict));
  result.summary.emplace_back("reason", reason);
}

Result run_baseline_verb(const Parameters& p, const Context& context) {
  const Examples examples = read_examples(p.text("examples"));
  const BaselineOptions options = read_options(p);
  Result result;
  result.table = Table(baseline_verb().columns());
  std::vector<BaselineRun> runs;
  try {
    runs = run_baseline(examples, options, context);
  } catch (const Refused& refusal) {
    result.status = ResultStatus::refused;
    result.reason = refusal.what();
    result.summary = {{"verdict", to_string(Verdict::refused)}, {"reason", result.reason}};
    return result;
  }
  const BaselineRun* best = nullptr;
  for (const BaselineRun& run : runs) {
    result.table.add_row({run.method, std::int64_t{run.start},
                          static_cast<std::int64_t>(run.evaluations), run.residual,
                          run.residual <= solved_residual});
    if (best == nullptr || run.residual < best->residual || std::isnan(best->residual)) best = &run;
  }
  judge(runs, *best, result);
  summarise(runs, "lm", result);
  if (options.adam_steps > 0) summarise(runs, "adam", result);
  result.notes.push_back(
      "Seconds are wall-clock times of this machine; everything else is the same every time.");
  if (std::isfinite(best->residual)) add_layer(best->layer, "", result.artifacts);
  return result;
}

Cost baseline_cost(const Parameters& p) {
  const double bytes = example_bytes(p.text("examples"));
  return {
      "From each random start: Levenberg-Marquardt on theta with w eliminated (variable "
      "projection) on a few hundred examples, then Adam on theta and w with minibatches of all.",
      static_cast<double>(p.integer("starts")) *
          (2.0 + 2e-3 * static_cast<double>(p.integer("adam-steps"))),
      2.0 * bytes + 2e8};
}

}  // namespace

Verb baseline_verb() {
  PlainVerb verb;
  verb.family = "mha";
  verb.name = "baseline";
  verb.summary = "plain optimisation from random starts, for comparison with mha learn";
  verb.details =
      "Levenberg-Marquardt by variable projection, and Adam, each from --starts random layers "
      "within "
      "a budget of steps. On generic layers the first solves nearly every start; what it lacks are "
      "the number of heads and certificates. The verdict is recovered when the best start leaves "
      "less than 1e-6 of the held-out labels, and refused otherwise.";
  using Kind = ParameterKind;
  verb.parameters = {
      make_folder("examples", true, "Folder with X.npy and Y.npy."),
      make_parameter("heads", Kind::integer, std::int64_t{2}, 1, max_heads,
                     "Number of heads, which the baseline must be told."),
      make_parameter("starts", Kind::integer, std::int64_t{4}, 1, 10'000,
                     "Restarts of each method."),
      make_parameter("scale", Kind::real, 3.0, 1e-6, 1e3, "Frobenius norm of a random theta."),
      make_parameter("lm-steps", Kind::integer, std::int64_t{60}, 1, 100'000,
                     "Budget of a Levenberg-Marquardt start, in Jacobians."),
      make_parameter("adam-steps", Kind::integer, std::int64_t{2500}, 0, 10'000'000,
                     "Budget of an Adam start, in minibatches of 64; 0: no Adam.")};
  verb.columns = {
      {"method", "lm or adam", "", false},
      {"start", "which random start", "", false},
      {"evaluations", "evaluations of the layer, in examples; a gradient counts as two", "", false},
      {"residual", "relative residual on held-out examples", "", false},
      {"solved", "whether that is below 1e-6", "", false}};
  verb.examples = {"mha baseline examples --heads 2 --starts 8"};
  verb.cost = baseline_cost;
  verb.run = run_baseline_verb;
  return to_verb(std::move(verb));
}

}  // namespace onset::mha
