#include <algorithm>
#include <cmath>
#include <string>

#include "core/plain_verb.hpp"
#include "onset/core/error.hpp"
#include "onset/core/outcome.hpp"
#include "onset/ssi/learners/diffusion.hpp"
#include "onset/ssi/limits/flow.hpp"
#include "ssi/verbs/mixture_options.hpp"
#include "ssi/verbs/model_options.hpp"
#include "ssi/verbs/sgd_options.hpp"
#include "ssi/verbs/ssi_verbs.hpp"

namespace onset::ssi {
namespace {

/// Without --tol; runs of the SDE have the errors that they have.
constexpr double ode_tolerance = 1e-2;

std::vector<Column> flow_columns() {
  return {{"time", "t = eta n/d: learning rate times steps over dimension", "", false},
          {"e", "positional overlap; with --method sde the mean of |e| over runs", "", true},
          {"m", "semantic overlap; with --method sde the mean of |m| over runs", "", true}};
}

std::vector<double> output_times(const Parameters& p) {
  const auto points = p.integer("points");
  std::vector<double> times;
  for (std::int64_t i = 0; i < points; ++i) {
    times.push_back(p.real("time") * static_cast<double>(i) / static_cast<double>(points - 1));
  }
  return times;
}

/// Whether the target is the same for any two tokens exchanged.
bool is_symmetric(const Link& target) {
  const std::size_t tokens = target.tokens();
  std::vector<double> z(tokens);
  for (std::size_t i = 0; i < tokens; ++i) z[i] = std::sin(1.0 + 2.0 * static_cast<double>(i));
  double before = 0.0;
  target.values(1, z.data(), &before);
  for (std::size_t i = 1; i < tokens; ++i) {
    std::swap(z[0], z[i]);
    double after = 0.0;
    target.values(1, z.data(), &after);
    if (std::abs(after - before) > 1e-12 * (1.0 + std::abs(before))) return false;
  }
  return true;
}

/// The flow of an untied student whose target treats tokens alike is that of its tied twin, L times
/// slower [ssi 35]: makes it the twin and returns by how much time is stretched.
double make_tied(const Parameters& p, SequenceModel& model) {
  if (model.student.kind != StudentKind::untied) return 1.0;
  if (!is_symmetric(*model.target) || p.text("method") == "sde") {
    throw Refused(
        "the flow of an untied student has one overlap per token; only the ODE of a target that "
        "treats tokens alike reduces to one");
  }
  model.student.kind = StudentKind::tied;
  return static_cast<double>(model.tokens());
}

/// --m0 and --e0, or what --start says: of the random start the typical size.
double start_overlap(const Parameters& p, const std::string& name) {
  if (p.has(name)) return p.real(name);
  const std::string& start = p.text("start");
  const bool none = start == "zero" || (start == "overlapped" && name == "e0");
  return none ? 0.0 : 1.0 / std::sqrt(p.real("dim"));
}

void require_ode_start(const Parameters& p, const SequenceModel& model) {
  if (p.has("e0") && !model.positional) {
    throw InvalidArgument("--e0",
                          "has a meaning only with a positional encoding; allowed: with "
                          "--positional, or leaving it out");
  }
  for (const char* name : {"m0", "e0"}) {
    if (!p.has(name) || p.text("method") == "ode") continue;
    throw InvalidArgument(std::string("--") + name,
                          "has a meaning only for the ODE; allowed: with --method ode, or --start");
  }
}

void add_rates(const FlowField& field, double stretch, Result& result) {
  const GrowthRates rates = growth_rates(field);
  const Estimate v = field.variance_at_start();
  result.summary.emplace_back("growth_m",
                              Estimate{rates.m.value / stretch, rates.m.error / stretch});
  if (field.positional()) result.summary.emplace_back("growth_e", rates.e);
  result.summary.emplace_back("gradient_variance", Estimate{v.value / stretch, v.error / stretch});
  // The rate at which the learning-rate term stops the growth of m: 2 lambda/V. [ssi 20]
  const Estimate lambda = rates.lambda_m;
  if (lambda.value > 6.0 * lambda.error && v.value > 0.0) {
    const double largest = 2.0 * lambda.value / v.value;
    const double relative = lambda.error / lambda.value + v.error / v.value;
    result.summary.emplace_back("largest_rate", Estimate{largest, largest * relative});
  }
}

void add_escape(const std::optional<Estimate>& time, const Parameters& p, Result& result) {
  if (!time) {
    result.summary.emplace_back("escape_time", no_estimate);
    result.summary.emplace_back("escape_steps", no_estimate);
    result.notes.push_back("The level " + to_text(Value(p.real("level"))) +
                           " is not reached within --time.");
    return;
  }
  const double steps = p.real("dim") / p.real("rate");
  result.summary.emplace_back("escape_time", *time);
  result.summary.emplace_back("escape_steps", Estimate{steps * time->value, steps * time->error});
}

void run_ode(const FlowField& field, double stretch, const Parameters& p, const Context& context,
             Result& result) {
  FlowOptions options;
  options.start_m = start_overlap(p, "m0");
  options.start_e = field.positional() ? start_overlap(p, "e0") : 0.0;
  if (std::hypot(options.start_e, options.start_m) > 1.0) {
    throw InvalidArgument("--m0", "lies outside the disk e0^2 + m0^2 <= 1");
  }
  const auto times = output_times(p);
  for (const double time : times) options.times.push_back(time / stretch);
  options.level = p.real("level");
  FlowPath path = integrate_flow(field, options, context);
  for (std::size_t i = 0; i < path.rows.size(); ++i) {
    result.table.add_row({times[i], path.rows[i].e, path.rows[i].m});
  }
  if (path.escape) *path.escape = {stretch * path.escape->value, stretch * path.escape->error};
  add_escape(path.escape, p, result);
  if (!path.status.converged()) {
    result.status = ResultStatus::unconverged;
    result.reason = "the integration ended early: " + std::string(to_string(path.status.reason));
  }
}

void run_sde(const FlowField& field, SgdOptions options, const Parameters& p,
             const Context& context, Result& result) {
  options.steps =
      static_cast<std::uint64_t>(std::ceil(p.real("time") * options.dim / options.rate));
  DiffusionOptions diffusion;
  diffusion.times = output_times(p);
  const DiffusionResult runs = run_diffusion(field, options, diffusion, context);
  for (const auto& row : runs.rows) result.table.add_row({row.time, row.e, row.m});
  std::size_t reached = 0;
  std::vector<double> times;
  for (const SgdRun& run : runs.runs) {
    if (run.first_passage == 0) continue;
    ++reached;
    times.push_back(static_cast<double>(run.first_passage) * options.rate / options.dim);
  }
  result.summary.emplace_back("reached_fraction", binomial(reached, options.runs));
  add_escape(mean_over_runs(times), p, result);
  result.artifacts.push_back(runs_artifact(runs.runs, "runs.csv"));
}

Result run_flow(const Parameters& p, const Context& context) {
  SequenceModel model = read_model_or_mixture(p);
  const SgdOptions options = read_sgd(p);
  require_ode_start(p, model);
  Result result;
  result.table = Table(flow_columns());
  const double stretch = make_tied(p, model);
  context.report(0.0, "moments of the gradient");
  const FlowField field(model, options.rate, options.seed, context);
  context.report(0.5, "flow");
  add_rates(field, stretch, result);
  if (p.text("method") == "ode") {
    run_ode(field, stretch, p, context, result);
  } else {
    run_sde(field, options, p, context, result);
  }
  judge_tolerance(p, "m", "with --method sde more --runs would help", result);
  return result;
}

Cost flow_cost(const Parameters& p) {
  const SequenceModel model = read_model_or_mixture(p);
  Cost cost;
  cost.method =
      "Moments of the gradient at Chebyshev nodes of the disk, interpolated; for squared losses "
      "the "
      "slope of the risk from Hermite series. The ODE by Dormand and Prince, errors from two rules "
      "or replicates; the SDE by Heun's method with its noise matrix, errors over runs.";
  const double nodes = model.positional ? 128.0 : 24.0;
  cost.core_seconds = 1.0 + nodes * 0.02 * static_cast<double>(model.tokens());
  if (p.text("method") == "sde") {
    cost.core_seconds += static_cast<double>(p.integer("runs")) * p.real("time") * 50.0 * 6e-8;
  }
  cost.memory_bytes = 300e6;
  return cost;
}

}  // namespace

Verb flow_verb() {
  PlainVerb verb;
  verb.family = "ssi";
  verb.name = "flow";
  verb.summary = "the path of the overlaps under SGD at large d: ODE or SDE, and escape times";
  verb.details =
      "In time t = eta n/d (learning rate times steps over dimension) the overlaps of online SGD "
      "follow an ODE as d grows at fixed eta: down the slope of the risk on the sphere, with a "
      "term "
      "-eta V/2 that pulls them back to 0 (V: mean squared gradient in the fields). At finite d "
      "they "
      "also diffuse: --method sde. The summary has the growth rates at the start, the largest rate "
      "at which m still grows, and the time at which |(e, m)| reaches --level. A model is a "
      "--target "
      "with a --student, or --a and --omega.";
  verb.parameters = model_parameters();
  for (Parameter& x : mixture_parameters()) verb.parameters.push_back(std::move(x));
  verb.parameters.push_back(loss_parameter(Loss::half_squared));
  verb.parameters.push_back(
      make_word("method", {"ode", "sde"}, "The ODE, or the SDE over --runs."));
  for (Parameter& x : sgd_parameters()) verb.parameters.push_back(std::move(x));
  verb.parameters.push_back(
      make_parameter("time", ParameterKind::real, 60.0, 0.0, 1e6, "Last time t = eta n/d."));
  verb.parameters.back().open_min = true;
  verb.parameters.push_back(make_parameter("points", ParameterKind::integer, std::int64_t{61}, 2,
                                           100'000, "Rows, from time 0 to the last."));
  verb.parameters.push_back(
      make_parameter("m0", ParameterKind::real, {}, -1.0, 1.0,
                     "Semantic overlap at time 0 of the ODE; unless given: 0 for --start zero, "
                     "else 1/sqrt(d)."));
  verb.parameters.push_back(make_parameter("e0", ParameterKind::real, {}, -1.0, 1.0,
                                           "Positional overlap at time 0 of the ODE; unless given: "
                                           "1/sqrt(d) for --start random, else 0."));
  verb.columns = flow_columns();
  verb.primary = "m";
  verb.default_tol = ode_tolerance;
  verb.tol_for = [](const Parameters& p) {
    return p.text("method") == "ode" ? ode_tolerance : 0.0;
  };
  verb.examples = {"ssi flow --a 1 --omega 0.6 --rate 0.05 --time 100",
                   "ssi flow --target H2sum --tokens 4 --student tied --loss squared --rate 0.05",
                   "ssi flow --a 1 --omega 0.64 --method sde --dim 1e9 --runs 512"};
  verb.method = 3;
  verb.cost = flow_cost;
  verb.run = run_flow;
  return to_verb(std::move(verb));
}

}  // namespace onset::ssi
