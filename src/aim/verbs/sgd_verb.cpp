#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "aim/learners/online_sgd.hpp"
#include "aim/limits/curve.hpp"
#include "aim/limits/flow/matrix_path.hpp"
#include "aim/limits/flow/solution.hpp"
#include "aim/limits/flow/stability.hpp"
#include "aim/verbs/flow_cost.hpp"
#include "aim/verbs/flow_rows.hpp"
#include "aim/verbs/model_fields.hpp"
#include "aim/verbs/sizes.hpp"
#include "aim/verbs/student_fields.hpp"
#include "core/definition.hpp"
#include "core/outcome.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "numerics/parallel.hpp"
#include "onset/aim.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {
namespace {

constexpr double usual_rate = 0.1;
/// A step of time in units of that of the flow's matrices, so that its Euler error is below 2 %
/// of a change.
constexpr double step_share = 0.4;
constexpr double sgd_flops_per_second = 4e9;  ///< measured, one core; for estimates only

/// A mean over runs and the limit's value beside it.
struct Compared {
  Estimate found;
  Estimate theory;
};

struct SgdRow {
  double time = 0.0;
  double alpha = 0.0;
  Estimate risk, risk_theory;
  Estimate mse, mse_theory;
  Estimate q, q_theory;
  Estimate p, p_theory;
  Estimate anti, anti_theory;
  Estimate trace, trace_theory;
  std::optional<Estimate> alignment, alignment_theory;
  std::optional<Estimate> disagreement, disagreement_theory;
  Estimate mmse;
  std::int64_t diverged = 0;
};

Columns<SgdRow> sgd_columns(const FlowModel& model) {
  Columns<SgdRow> columns;
  columns.add("time", &SgdRow::time, flow_time_meaning)
      .add("alpha", &SgdRow::alpha, data_alpha_meaning)
      .add("risk", &SgdRow::risk, "mean loss on fresh samples")
      .add("risk_theory", &SgdRow::risk_theory, "the same in large dimension, by aim flow")
      .add("mse", &SgdRow::mse, "||S_student - S||_F^2/d")
      .add("mse_theory", &SgdRow::mse_theory, "the same in large dimension")
      .add("q", &SgdRow::q, "overlap Tr(S_student S)/d with the teacher")
      .add("q_theory", &SgdRow::q_theory, "the same in large dimension")
      .add("p", &SgdRow::p, "Tr S_student^2/d, of the symmetric part")
      .add("p_theory", &SgdRow::p_theory, "the same in large dimension");
  if (model.student == Student::untied) {
    columns
        .add("p_anti", &SgdRow::anti,
             "squared norm over d of the antisymmetric part of an untied student")
        .add("p_anti_theory", &SgdRow::anti_theory, "the same in large dimension");
  }
  columns.add("trace", &SgdRow::trace, "Tr S_student/d")
      .add("trace_theory", &SgdRow::trace_theory, "the same in large dimension")
      .add("alignment", &SgdRow::alignment,
           "cosine of student and teacher without their traces; empty for a multiple of the "
           "identity")
      .add("alignment_theory", &SgdRow::alignment_theory, "the same in large dimension");
  if (model.labels.channel == &hardmax_channel()) {
    columns
        .add("disagreement", &SgdRow::disagreement,
             "share of rows of hardmax labels that the student labels otherwise")
        .add("disagreement_theory", &SgdRow::disagreement_theory, "the same in large dimension");
  }
  return columns.add("mmse", &SgdRow::mmse, "least possible mse from as many samples")
      .add("diverged", &SgdRow::diverged, "runs that left the finite numbers by then");
}

struct SettledSgd {
  FlowModel model;  ///< with the width ratios of whole widths
  OnlineOptions options;
  std::vector<double> times;  ///< of whole steps, each once, as those of the rows
  double max_rate = 0.0;      ///< of stability in large dimension
};

/// Fills `rate` and `batch`, whichever was not given, so that a step is short.
void settle_step(Sgd& request, const FlowModel& model) {
  const auto risk = make_risk(model, Precision::coarse, request.seed);
  const double step = step_share * matrix_step(model, *risk);
  const double d = request.dim;
  if (!request.rate) request.rate = request.batch ? step * d * d / *request.batch : usual_rate;
  constexpr double max_batch = 1e6;
  if (!request.batch) {
    request.batch =
        static_cast<int>(std::clamp(std::floor(step * d * d / *request.rate), 1.0, max_batch));
  }
}

SettledSgd settle_sgd(Sgd& request) {
  const auto dim = static_cast<std::size_t>(request.dim);
  const AttentionIndexed labels = at_size(settle_model(request), dim);
  SettledSgd settled;
  settled.model = settle_student(labels, request.student, request.loss, request.start,
                                 request.scale, request.width_ratio, request.decay);
  if (request.width_ratio) {
    settled.model.width_ratio =
        static_cast<double>(width_of(*request.width_ratio, dim)) / request.dim;
  }
  settle_step(request, settled.model);
  settled.model.rate = *request.rate;
  const auto risk = make_risk(settled.model, Precision::coarse, request.seed);
  check_rate(settled.model, *risk);
  settled.max_rate = max_stable_rate(settled.model, *risk);
  settled.options.dim = dim;
  settled.options.batch = static_cast<std::size_t>(*request.batch);
  settled.options.teacher = request.teacher;
  settled.options.seed = request.seed;
  const double step =
      *request.rate * *request.batch / (static_cast<double>(request.dim) * request.dim);
  std::vector<double> asked = request.time;
  std::sort(asked.begin(), asked.end());
  for (const double time : asked) {
    const auto steps = static_cast<std::size_t>(std::round(time / step));
    if (!settled.times.empty() && steps == settled.options.steps.back()) continue;
    settled.options.steps.push_back(steps);
    settled.times.push_back(static_cast<double>(steps) * step);
  }
  return settled;
}

std::optional<Estimate> known(const Estimate& x) {
  return std::isfinite(x.value) ? std::optional(x) : std::nullopt;
}

SgdRow row_of(std::size_t i, const std::vector<OnlineRun>& runs, const FlowEstimates& theory) {
  SgdRow row;
  const auto compare = [&](FlowNumber which) -> Compared {
    std::vector<double> values;
    for (const OnlineRun& run : runs) {
      if (i < run.numbers.size()) values.push_back(run.numbers[i][which]);
    }
    const Estimate mean = values.empty() ? no_estimate : numerics::mean_over_runs(values);
    return {mean, theory[which]};
  };
  const auto set = [&](FlowNumber which, Estimate& found, Estimate& limit) {
    const Compared both = compare(which);
    found = both.found;
    limit = both.theory;
  };
  set(FlowNumber::risk, row.risk, row.risk_theory);
  set(FlowNumber::mse, row.mse, row.mse_theory);
  set(FlowNumber::q, row.q, row.q_theory);
  set(FlowNumber::p, row.p, row.p_theory);
  set(FlowNumber::anti, row.anti, row.anti_theory);
  set(FlowNumber::trace, row.trace, row.trace_theory);
  const Compared aligned = compare(FlowNumber::alignment);
  row.alignment = known(aligned.found);
  row.alignment_theory = known(aligned.theory);
  const Compared disagreed = compare(FlowNumber::disagreement);
  row.disagreement = known(disagreed.found);
  row.disagreement_theory = known(disagreed.theory);
  for (const OnlineRun& run : runs) row.diverged += i < run.numbers.size() ? 0 : 1;
  return row;
}

void add_sgd_sizes(const Sgd& request, const SettledSgd& settled, Result& result) {
  add_sizes(request.rho, settled.model.labels, settled.options.dim, {}, result);
  if (request.width_ratio) {
    result.summary.emplace_back(
        "student_width",
        static_cast<std::int64_t>(std::llround(settled.model.width_ratio * request.dim)));
  }
  const double step =
      *request.rate * *request.batch / (static_cast<double>(request.dim) * request.dim);
  result.summary.emplace_back("step_time", step);
}

/// SGD on tokens loses stability earlier than the limit says [aim 105].
void warn_of_instability(const Sgd& request, const SettledSgd& settled, Result& result) {
  if (!std::isfinite(settled.max_rate)) return;
  const double here = settled.max_rate *
                      stable_share(request.student, settled.model.labels.rho, settled.options.dim);
  if (*request.rate < here) return;
  result.notes.push_back(
      fmt::format("The teacher is stable up to a rate of {:.4g} in large dimension, but only up to "
                  "some {:.4g} at "
                  "this one: the error may grow where theory lets it fall.",
                  settled.max_rate, here));
}

std::vector<OnlineRun> train(const Sgd& request, const SettledSgd& settled,
                             const Context& context) {
  std::vector<OnlineRun> runs(static_cast<std::size_t>(request.runs));
  numerics::parallel_for(context, runs.size(), [&](std::size_t run) {
    OnlineOptions options = settled.options;
    options.run = run;
    Context alone = context;
    alone.threads = 1;
    alone.progress = {};
    runs[run] = online_sgd(settled.model, options, alone);
  });
  return runs;
}

void run_sgd(const Sgd& request, const SettledSgd& settled, const Context& context,
             Result& result) {
  const FlowModel& model = settled.model;
  const auto columns = sgd_columns(model);
  result.table = columns.table();
  add_sgd_sizes(request, settled, result);
  warn_of_instability(request, settled, result);
  context.report(0.0, "SGD");
  const std::vector<OnlineRun> runs = train(request, settled, context);
  context.report(0.8, "the limit");
  FlowOptions options;
  options.seed = request.seed;
  const FlowSolution theory = solve_flow(model, settled.times, options, context);
  const StateEvolution evolution(model.labels, request.seed, context);
  for (std::size_t i = 0; i < settled.times.size(); ++i) {
    FlowEstimates limit;
    limit.values.fill(no_estimate);
    if (i < theory.students.size()) limit = theory.students[i];
    SgdRow row = row_of(i, runs, limit);
    row.time = settled.times[i];
    row.alpha = row.time / model.rate;
    row.mmse = evolution.at(row.alpha).mmse;
    result.table.add_row(columns.cells(row));
  }
  const auto lost =
      std::count_if(runs.begin(), runs.end(), [](const OnlineRun& run) { return run.diverged; });
  if (lost > 0) {
    result.unconverged(
        fmt::format("{} of {} runs left the finite numbers; a smaller `rate` or step would help",
                    lost, request.runs));
  }
  if (!theory.status.converged()) {
    result.unconverged("the integration of the limit ended early: " +
                       std::string(to_string(theory.status.reason)));
  }
}

Cost sgd_cost(const Sgd& request, const SettledSgd& settled) {
  const double d = request.dim;
  const bool direct = request.student == Student::direct;
  const double width = direct ? d : settled.model.width_ratio * d;
  const double products = request.student == Student::untied ? 8.0 : 4.0;
  const double last =
      settled.options.steps.empty() ? 0.0 : static_cast<double>(settled.options.steps.back());
  const double samples = last * static_cast<double>(settled.options.batch);
  const double tokens = request.tokens;
  const double limit =
      flow_seconds(settled.model, settled.times.empty() ? 0.0 : settled.times.back(),
                   {.seed = request.seed}) +
      settled.model.labels.channel->information_plan(settled.model.labels).core_seconds;
  return {
      "Online SGD with a fresh batch at every step, in the teacher's eigenbasis; the limit beside "
      "it by aim flow at the same rate.",
      limit + request.runs * samples *
                  (tokens * d * (products * width / sgd_flops_per_second + 4e-9) + 1e-7),
      program_bytes + 8.0 * request.runs * (6.0 * d * std::max(d, width) + 3.0 * 256 * tokens * d)};
}

}  // namespace

VerbOf<Sgd> Sgd::verb() {
  Definition<Sgd, SettledSgd> d;
  d.family = "aim";
  d.name = "sgd";
  d.summary = "online SGD on the attention matrix at finite dimension, against its limit";
  d.details = prose(R"(
      Students of dimension d that see a fresh batch at every step: means over `runs`
      beside what aim flow says of large dimension at the same rate (columns _theory). The
      rate is eta d/batch; a step takes rate batch/d^2 of time and n = batch steps, so
      that alpha = n/d^2 = tau/rate (samples over dimension squared). Of `rate` and
      `batch` one may be left out: steps are then short enough to follow the flow. Errors
      are the scatter of runs, with Student's factor for few of them. Finite dimensions
      differ from the limit by some 1/d, with three tokens and more by 1/sqrt(d), and at
      rates of order one by some 9 rate/d in the noise. The tolerance is not used to stop.)");
  d.fields = model_fields<Sgd>();
  add_student_fields(d.fields);
  d.fields.add("dim", &Sgd::dim, {.min = 4, .max = 20000}, "Dimension d of a token.")
      .add("runs", &Sgd::runs, {.min = 1, .max = 10000}, "Students.")
      .add("rate", &Sgd::rate, {.min = 1e-6, .max = 1e6},
           "Learning rate times dimension over batch, eta d/batch; 0.1 unless it or `batch` is "
           "given.")
      .add("batch", &Sgd::batch, {.min = 1, .max = 1000000},
           "Samples of a step; as many as make its time short unless given.")
      .add("time", &Sgd::time, {.min = 0.0, .max = max_flow_time, .required = true, .grid = true},
           "Times tau = eta steps/d; rows have those of whole steps.")
      .add_word("teacher", &Sgd::teacher, {TeacherSpectrum::quantiles, TeacherSpectrum::random},
                "Eigenvalues of the teacher: quantiles of the limit's law, or those of normal "
                "weights.");
  d.rows = {
      {"", sgd_columns({}).list()},
      {"with `student = untied` and `channel = hardmax`", sgd_columns(with_every_column()).list()}};
  d.primary = "mse";
  d.method = 3;
  d.examples = {"aim sgd --dim 60 --width-ratio 0.75 --scale 0.4 --time 0.4,1.5 --runs 4",
                "aim sgd --student direct --rate 1 --dim 60 --time 0.5,1"};
  d.settle = settle_sgd;
  d.cost = sgd_cost;
  d.run = run_sgd;
  return d.verb();
}

}  // namespace onset::aim
