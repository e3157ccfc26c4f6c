#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/definition.hpp"
#include "core/outcome.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/ssi.hpp"
#include "onset/ssi/limits/flow.hpp"
#include "ssi/learners/diffusion.hpp"
#include "ssi/learners/ensemble.hpp"
#include "ssi/limits/flow/many_overlaps.hpp"
#include "ssi/model/parity.hpp"
#include "ssi/verbs/model_fields.hpp"
#include "ssi/verbs/runs_artifact.hpp"
#include "ssi/verbs/sgd_fields.hpp"

namespace onset::ssi {
namespace {

/// The tolerance of the ODE without --tol; runs of the SDE have the errors that they have.
constexpr double ode_tolerance = 1e-2;

Columns<FlowRow> flow_columns(FlowMethod method) {
  const bool path = method == FlowMethod::ode;
  return Columns<FlowRow>()
      .add("time", &FlowRow::time, "t = eta n/d: learning rate times steps over dimension")
      .add("e", &FlowRow::e, path ? "positional overlap" : "mean of |e| over runs")
      .add("m", &FlowRow::m, path ? "semantic overlap" : "mean of |m| over runs");
}

/// With several directions across the teacher there is an overlap for each; e is their length.
Columns<ManyFlowRow> many_columns(std::size_t directions) {
  std::vector<Column> each;
  for (std::size_t k = 1; k <= directions; ++k) {
    each.push_back({fmt::format("e{}", k), fmt::format("overlap with direction {}", k), "", true});
  }
  return Columns<ManyFlowRow>()
      .add("time", &ManyFlowRow::time, "t = eta n/d: learning rate times steps over dimension")
      .add("e", &ManyFlowRow::e, "length of the overlaps with all directions across the teacher")
      .add("m", &ManyFlowRow::m, "semantic overlap")
      .add_each(each, &ManyFlowRow::each);
}

struct SettledFlow {
  SequenceModel model;
  std::size_t directions = 0;  ///< of the encodings across the teacher
  /// Times of the model's flow are those of the request divided by this.
  double stretch = 1.0;
  std::vector<double> times;  ///< of the rows
  SgdOptions sgd;
  double start_e = 0.0;  ///< of the ODE
  double start_m = 0.0;
};

/// The flow of an untied student whose target treats tokens alike is that of its tied twin, L times
/// slower [ssi 35].
void use_tied_twin(const Flow& request, SettledFlow& settled) {
  SequenceModel& model = settled.model;
  if (!model.student.vector_per_token) return;
  if (request.method == FlowMethod::sde || !treats_tokens_alike(*model.target)) {
    throw Refused(prose(R"(
        the flow of an untied student has one overlap per token; only the ODE of a target that
        treats tokens alike reduces to one)"));
  }
  model.student = model.student.tied_twin();
  settled.stretch = static_cast<double>(model.tokens());
}

void require_ode_start(const Flow& request, const SequenceModel& model) {
  if (request.e0 && !model.positional) {
    throw InvalidArgument("e0", prose(R"(
          has a meaning only with a positional encoding; allowed: with `positional`, or leaving
          it out)"));
  }
  if (request.method == FlowMethod::ode || (!request.m0 && !request.e0)) return;
  throw InvalidArgument(request.m0 ? "m0" : "e0",
                        "has a meaning only for the ODE; allowed: with `method = ode`, or `start`");
}

/// --m0 and --e0, or what --start says: of the random start the typical size.
void set_start(const Flow& request, SettledFlow& settled) {
  require_ode_start(request, settled.model);
  if (request.e0 && settled.directions > 1) {
    throw InvalidArgument("e0", prose(R"(
          is one number, and `encodings` along {} directions have as many overlaps; allowed: with
          one direction, or `start`)",
                                      settled.directions));
  }
  const double typical = 1.0 / std::sqrt(request.dim);
  const bool random = request.start == Start::random;
  settled.start_m = request.m0.value_or(request.start == Start::zero ? 0.0 : typical);
  if (settled.model.positional) settled.start_e = request.e0.value_or(random ? typical : 0.0);
  const double directions = std::max(1.0, static_cast<double>(settled.directions));
  if (std::hypot(std::sqrt(directions) * settled.start_e, settled.start_m) > 1.0) {
    throw InvalidArgument("m0", "lies outside the disk e0^2 + m0^2 <= 1");
  }
}

/// The ODE is one path: a number of runs would be without effect.
void require_runs_of_sde(const Flow& request) {
  if (request.method == FlowMethod::sde || request.runs == Flow{}.runs) return;
  throw InvalidArgument("runs", prose(R"(
      {} has no effect on the ODE, which is one path; allowed: with `method = sde`, or leaving it
      out ({}))",
                                      request.runs, Flow{}.runs));
}

SettledFlow settle_flow(Flow& request) {
  require_runs_of_sde(request);
  if (!request.tol && request.method == FlowMethod::ode) request.tol = ode_tolerance;
  SettledFlow settled;
  settled.model = settle_model(request);
  settled.directions = settled.model.all_encodings().own.size();
  if (settled.directions > 1 && request.method == FlowMethod::sde) {
    throw Refused(prose(R"(
        the diffusion of {} overlaps needs its noise at every place of their ball, which is not
        tabulated beyond two; possible: `method = ode`, and ssi sgd, whose chain is exact in law with
        any number)",
                        settled.directions + 1));
  }
  settled.sgd = sgd_options(request);
  if (request.method == FlowMethod::sde) {
    const double steps = std::ceil(request.time * request.dim / request.rate);
    settled.sgd.steps = counted_steps(steps, request.dim, request.rate);
  }
  for (int i = 0; i < request.points; ++i) {
    settled.times.push_back(request.time * i / (request.points - 1.0));
  }
  set_start(request, settled);
  use_tied_twin(request, settled);
  return settled;
}

Estimate scaled(double factor, const Estimate& x) {
  return {factor * x.value, factor * x.error};
}

/// Why `largest_rate` is empty or 0; nothing where it is a plain number.
std::string limit_note(SmallGrowth growth) {
  switch (growth) {
    case SmallGrowth::at_every_rate:
      return prose(R"(
          The student sees a part of degree 1 of the target, which moves m away from 0 with the speed
          drift_m at every learning rate: largest_rate is left empty, since there is no limit, and
          growth_m is how this speed changes with m.)");
    case SmallGrowth::against_slope:
      return prose(R"(
          The risk rises on both sides of m = 0, so that small m shrink at every learning rate:
          largest_rate is 0.)");
    case SmallGrowth::not_linear:
      return prose(R"(
          The student sees no part of degree 1 or 2 of the target, so that m has no linear growth at
          the start: largest_rate is 0, since overlaps below some size shrink at every learning
          rate. What counts is the size of the start: at the first visible degree s > 2 it grows
          where the drift, of the order of m^(s-1), exceeds the pull eta V m/2.)");
    case SmallGrowth::open:
      return "Whether small m grow is not resolved: largest_rate is left empty.";
    case SmallGrowth::up_to_a_rate: break;
  }
  return "";
}

void add_rates(const FlowField& field, double stretch, Result& result) {
  const GrowthRates rates = growth_rates(field);
  const Estimate v = field.variance_at_start();
  result.summary.emplace_back("growth_m", scaled(1.0 / stretch, rates.m));
  if (field.positional()) result.summary.emplace_back("growth_e", rates.e);
  result.summary.emplace_back("gradient_variance", scaled(1.0 / stretch, v));
  const RateLimit limit = max_rate(field);
  result.summary.emplace_back("largest_rate", limit.rate.value_or(no_estimate));
  const std::string note = limit_note(limit.growth);
  if (!note.empty()) result.notes.push_back(note);
  if (limit.growth == SmallGrowth::at_every_rate) {
    result.summary.emplace_back("drift_m", scaled(1.0 / stretch, field.drift_at_start()));
  }
}

/// Why there is no escape time.
std::string escape_note(double level, std::size_t escaped, std::size_t integrations) {
  const std::string text = to_text(Value(level));
  if (escaped == 0) return fmt::format("The level {} is not reached within `time`.", text);
  return prose(R"(
      Whether the level {} is reached within `time` is not resolved: {} of the {} integrations whose
      differences give the errors reach it.)",
               text, escaped, integrations);
}

void add_escape(const std::optional<Estimate>& time, const std::string& note, const Flow& request,
                Result& result) {
  result.summary.emplace_back("escape_time", time.value_or(no_estimate));
  result.summary.emplace_back("escape_steps",
                              scaled(request.dim / request.rate, time.value_or(no_estimate)));
  if (!time) result.notes.push_back(note);
}

void run_ode(const FlowField& field, const Flow& request, const SettledFlow& settled,
             const Context& context, Result& result) {
  FlowOptions options;
  options.start_m = settled.start_m;
  options.start_e = settled.start_e;
  options.level = request.level;
  for (const double time : settled.times) options.times.push_back(time / settled.stretch);
  const FlowPath path = integrate_flow(field, options, context);
  const auto columns = flow_columns(request.method);
  for (std::size_t i = 0; i < path.rows.size(); ++i) {
    FlowRow row = path.rows[i];
    row.time = settled.times[i];
    result.table.add_row(columns.cells(row));
  }
  std::optional<Estimate> escape = path.escape;
  if (escape) escape = scaled(settled.stretch, *escape);
  add_escape(escape, escape_note(request.level, path.escaped, path.integrations), request, result);
  if (path.status.converged()) return;
  result.unconverged("the integration ended early: " + std::string(to_string(path.status.reason)));
}

void run_many(const Flow& request, const SettledFlow& settled, const Context& context,
              Result& result) {
  const auto columns = many_columns(settled.directions);
  result.table = columns.table();
  const ManyOverlaps field(settled.model, request.seed, context);
  ManyFlowOptions options;
  options.start.assign(settled.directions, settled.start_e);
  options.start.push_back(settled.start_m);
  options.times = settled.times;
  options.level = request.level;
  options.rate = request.rate;
  const ManyFlowPath path = integrate_flow(field, options, context);
  result.table = columns.table(path.rows);
  result.summary.emplace_back("gradient_variance", field.variance_at_start());
  add_escape(path.escape, escape_note(request.level, path.escaped, path.integrations), request,
             result);
  if (path.status.converged()) return;
  result.unconverged("the integration ended early: " + std::string(to_string(path.status.reason)));
}

void run_sde(const FlowField& field, const Flow& request, const SettledFlow& settled,
             const Context& context, Result& result) {
  DiffusionOptions diffusion;
  diffusion.times = settled.times;
  const DiffusionResult ensemble = run_diffusion(field, settled.sgd, diffusion, context);
  result.table = flow_columns(request.method).table(ensemble.rows);
  result.summary.emplace_back("reached_fraction", reached_fraction(ensemble.runs));
  std::optional<Estimate> escape = mean_passage(ensemble.runs);
  if (escape) escape = scaled(request.rate / request.dim, *escape);
  add_escape(escape, escape_note(request.level, 0, ensemble.runs.size()), request, result);
  result.artifacts.push_back(runs_artifact(ensemble.runs, "runs.csv"));
}

void run_plane(const Flow& request, const SettledFlow& settled, const Context& context,
               Result& result) {
  result.table = flow_columns(request.method).table();
  context.report(0.0, "moments of the gradient");
  const FlowField field(settled.model, request.rate, request.seed, context);
  context.report(0.5, "flow");
  add_rates(field, settled.stretch, result);
  if (request.method == FlowMethod::ode) {
    run_ode(field, request, settled, context, result);
  } else {
    run_sde(field, request, settled, context, result);
  }
}

void run_flow(const Flow& request, const SettledFlow& settled, const Context& context,
              Result& result) {
  if (settled.directions > 1) {
    run_many(request, settled, context, result);
  } else {
    run_plane(request, settled, context, result);
  }
  judge_tolerance(request.tol.value_or(0.0), "m",
                  request.method == FlowMethod::sde ? "more `runs` would help"
                                                    : "a sampled drift has no more digits",
                  result);
}

Cost flow_cost(const Flow& request, const SettledFlow& settled) {
  Cost cost;
  if (settled.directions > 1) {
    // What a path of the solver asks for, by experience.
    const double questions = 150.0 + 0.5 * request.time;
    cost.method = prose(R"(
        The drift of all overlaps from 16 replicates of 8192 Sobol points with both signs, at every
        place that the solver asks about; the ODE by Dormand and Prince, errors over replicates.)");
    cost.core_seconds = 0.1 + questions * ManyOverlaps::seconds(settled.model);
    cost.memory_bytes = 100e6;
    return cost;
  }
  cost.method = prose(R"(
      Moments of the gradient at Chebyshev nodes of the disk, interpolated; for squared losses
      the slope of the risk from Hermite series. The ODE by Dormand and Prince, errors from two
      rules or replicates; the SDE by Heun's method with its noise matrix, errors over runs.)");
  cost.core_seconds = 0.1 + FlowField::seconds(settled.model);
  if (request.method == FlowMethod::sde) {
    cost.core_seconds += diffusion_seconds(settled.model, settled.sgd);
  }
  cost.memory_bytes = 300e6;
  return cost;
}

}  // namespace

std::string_view to_string(FlowMethod method) {
  return method == FlowMethod::ode ? "ode" : "sde";
}

VerbOf<Flow> Flow::verb() {
  Definition<Flow, SettledFlow> d;
  d.family = "ssi";
  d.name = "flow";
  d.summary = "the path of the overlaps under SGD at large d: ODE or SDE, and escape times";
  d.details = prose(R"(
      In time t = eta n/d (learning rate times steps over dimension) the overlaps of online SGD
      follow an ODE as d grows at fixed eta: down the slope of the risk on the sphere, with a
      term -eta V/2 that pulls them back to 0, where V is the mean squared gradient in the
      fields. At finite d they also diffuse (`method = sde`). The summary has the growth rates
      at the start, the largest rate at which m of any small size still grows (empty where every
      rate does, since the student sees a part of degree 1; 0 where none does), and the time at which
      max(|e|, |m|) reaches `level`. A model is a `target` with a `student`, or `a` and `omega`. With `encodings`
      along several directions across the teacher the ODE has an overlap for each.)");
  d.fields = model_fields<Flow>();
  add_mixture_fields(d.fields);
  d.fields.add_word("method", &Flow::method, {FlowMethod::ode, FlowMethod::sde},
                    "The ODE, or the SDE over `runs`.");
  add_sgd_fields(d.fields);
  d.fields
      .add("time", &Flow::time, {.min = 0.0, .max = 1e6, .open_min = true},
           "Last time t = eta n/d.")
      .add("points", &Flow::points, {.min = 2, .max = 100'000}, "Rows, from time 0 to the last.")
      .add("m0", &Flow::m0, {.min = -1.0, .max = 1.0}, prose(R"(
          Semantic overlap at time 0 of the ODE; unless given: 0 for `start = zero`, else
          1/sqrt(d).)"))
      .add("e0", &Flow::e0, {.min = -1.0, .max = 1.0}, prose(R"(
          Positional overlap at time 0 of the ODE; unless given: 1/sqrt(d) for `start = random`,
          else 0.)"));
  d.rows = {{"", flow_columns(FlowMethod::ode).list()},
            {"with `method = sde`", flow_columns(FlowMethod::sde).list()},
            {"with `encodings` along several directions", many_columns(2).list()}};
  d.primary = "m";
  d.usual_tolerance = "1e-2 for the ODE, and what comes out for the SDE,";
  d.examples = {"ssi flow --a 1 --omega 0.6 --rate 0.05 --time 100",
                "ssi flow --target H2sum --tokens 4 --student tied --loss squared --rate 0.05",
                "ssi flow --a 1 --omega 0.64 --method sde --dim 1e9 --runs 512"};
  d.method = 8;
  d.settle = settle_flow;
  d.cost = flow_cost;
  d.run = run_flow;
  return d.verb();
}

}  // namespace onset::ssi
