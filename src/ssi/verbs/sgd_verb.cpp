#include <algorithm>
#include <cmath>
#include <string>

#include "core/plain_verb.hpp"
#include "onset/core/error.hpp"
#include "onset/core/outcome.hpp"
#include "onset/ssi/learners/diffusion.hpp"
#include "onset/ssi/learners/sgd.hpp"
#include "ssi/verbs/model_options.hpp"
#include "ssi/verbs/sgd_options.hpp"
#include "ssi/verbs/ssi_verbs.hpp"

namespace onset::ssi {
namespace {

/// Time eta n/d that runs get without --steps: leaving the start takes a multiple of log d.
double default_time(double dim) {
  return 40.0 + 8.0 * std::log(dim);
}

/// Measured, for estimates only: nanoseconds per step and run of the chain, per normal of the full
/// engine, per step of the diffusion.
constexpr double chain_ns_per_normal = 4.5;
constexpr double full_ns_per_normal = 1.0;

std::vector<Column> mixture_columns() {
  return {
      {"omega", "weight of the positional part of the target", "", false},
      {"p_semantic", "part of the runs that end with |m| > |e| and max(|e|, |m|) > 0.5", "", true},
      {"converged_fraction", "part of the runs that end with max(|e|, |m|) > 0.5", "", true},
      {"mean_steps", "mean first step with max(|e|, |m|) >= level, of the runs that have one",
       "steps", true}};
}

std::vector<Column> target_columns() {
  return {{"reached_fraction", "part of the runs that reach the level", "", true},
          {"mean_steps", "mean first step with max(|e|, |m|) >= level, of the runs that have one",
           "steps", true},
          {"e", "mean of |e| at the end", "", true},
          {"m", "mean of |m| at the end; of untied students |(m_1, .., m_L)|/sqrt(L)", "", true}};
}

std::vector<SgdRun> run_engine(const std::string& engine, const SequenceModel& model,
                               const SgdOptions& options, const Context& context) {
  if (engine == "full") return run_full(model, options, context);
  if (engine == "chain") return run_chain(model, options, context);
  Context quiet = context;
  quiet.progress = nullptr;
  const FlowField field(model, options.rate, options.seed, quiet);
  return run_diffusion(field, options, {}, quiet).runs;
}

/// Nothing if no run has one.
Cell mean_passage(const std::vector<SgdRun>& runs) {
  std::vector<double> steps;
  for (const SgdRun& run : runs) {
    if (run.first_passage > 0) steps.push_back(static_cast<double>(run.first_passage));
  }
  const auto mean = mean_over_runs(steps);
  return mean ? Cell(*mean) : Cell();
}

Cell mean_size(const std::vector<SgdRun>& runs, double SgdRun::*overlap) {
  std::vector<double> sizes;
  for (const SgdRun& run : runs) sizes.push_back(std::abs(run.*overlap));
  return *mean_over_runs(sizes);
}

SgdOptions read_options(const Parameters& p) {
  SgdOptions options = read_sgd(p);
  const double asked = whole_steps(p);
  const double steps =
      asked > 0.0 ? asked : std::ceil(default_time(options.dim) * options.dim / options.rate);
  options.steps = static_cast<std::uint64_t>(steps);
  return options;
}

void require_fit(const std::string& engine, const SequenceModel& model, const SgdOptions& options) {
  try {
    options.validate(model);
  } catch (const InvalidArgument& e) {
    throw InvalidArgument("--" + e.field(), std::string(e.what()).substr(e.field().size() + 2));
  }
  if (engine == "full" && options.dim > 1e8) {
    throw InvalidArgument("--dim",
                          "is too large for --engine full; allowed: up to 1e8, or "
                          "--engine chain");
  }
}

void run_mixture(const Parameters& p, const SgdOptions& options, const Context& context,
                 Result& result) {
  const auto& omegas = p.reals("omega");
  const std::string& engine = p.text("engine");
  double least = 1.0;
  for (std::size_t i = 0; i < omegas.size(); ++i) {
    context.report(static_cast<double>(i) / static_cast<double>(omegas.size()), "runs");
    const SequenceModel model = mixture_model(p.real("a"), omegas[i], read_loss(p));
    require_fit(engine, model, options);
    const auto runs = run_engine(engine, model, options, context);
    std::size_t converged = 0;
    std::size_t semantic = 0;
    for (const SgdRun& run : runs) {
      converged += is_converged(run) ? 1 : 0;
      semantic += is_semantic(run) ? 1 : 0;
    }
    result.table.add_row({omegas[i], binomial(semantic, runs.size()),
                          binomial(converged, runs.size()), mean_passage(runs)});
    least = std::min(least, static_cast<double>(converged) / static_cast<double>(runs.size()));
    result.artifacts.push_back(runs_artifact(runs, "runs/" + std::to_string(i + 1) + ".csv"));
  }
  if (least < 0.5) {
    result.status = ResultStatus::unconverged;
    result.reason =
        "in some row fewer than half of the runs have converged: more --steps are needed";
  }
}

void run_target(const Parameters& p, const SgdOptions& options, const Context& context,
                Result& result) {
  SequenceModel model = read_model(p).model;
  model.loss = read_loss(p);
  require_fit(p.text("engine"), model, options);
  context.report(0.0, "runs");
  const auto runs = run_engine(p.text("engine"), model, options, context);
  const bool finite = std::all_of(runs.begin(), runs.end(), [](const SgdRun& run) {
    return std::isfinite(run.e) && std::isfinite(run.m);
  });
  if (!finite) {
    throw Refused(
        "some runs are not finite: the target or the student has no value somewhere, or "
        "the rate is far too large");
  }
  std::size_t reached = 0;
  for (const SgdRun& run : runs) reached += run.first_passage > 0 ? 1 : 0;
  result.table.add_row({binomial(reached, runs.size()), mean_passage(runs),
                        mean_size(runs, &SgdRun::e), mean_size(runs, &SgdRun::m)});
  result.artifacts.push_back(runs_artifact(runs, "runs.csv"));
  if (reached > 0) return;
  result.status = ResultStatus::unconverged;
  result.reason = "no run has reached the level: more --steps may be needed, or a smaller --rate";
}

Result run_sgd(const Parameters& p, const Context& context) {
  const bool mixture = is_mixture(p);
  const SgdOptions options = read_options(p);
  Result result;
  result.table = Table(mixture ? mixture_columns() : target_columns());
  result.summary.emplace_back("steps", static_cast<std::int64_t>(options.steps));
  result.summary.emplace_back("time",
                              static_cast<double>(options.steps) * options.rate / options.dim);
  keep_rows(result, [&] {
    if (mixture) {
      run_mixture(p, options, context, result);
    } else {
      run_target(p, options, context, result);
    }
  });
  judge_tolerance(p, mixture ? "p_semantic" : "reached_fraction", "more --runs would help", result);
  return result;
}

Cost sgd_cost(const Parameters& p) {
  const SgdOptions options = read_options(p);
  const bool mixture = is_mixture(p);
  const double rows = mixture ? static_cast<double>(p.reals("omega").size()) : 1.0;
  const double tokens = mixture ? 2.0 : static_cast<double>(p.integer("tokens"));
  const double work = rows * static_cast<double>(options.runs) * static_cast<double>(options.steps);
  const std::string& engine = p.text("engine");
  Cost cost;
  cost.memory_bytes = 50e6 + 200.0 * static_cast<double>(options.runs) * rows;
  if (engine == "chain") {
    cost.method =
        "The exact Markov chain of the overlaps: 2L fields and one chi-square a step, whatever the "
        "dimension; 64 runs advance together.";
    cost.core_seconds = work * (2.0 * tokens + 2.0) * chain_ns_per_normal * 1e-9;
  } else if (engine == "full") {
    cost.method = "SGD with all dimensions in single precision: L d normals a step.";
    cost.core_seconds = work * tokens * options.dim * full_ns_per_normal * 1e-9;
    cost.memory_bytes += 8.0 * 64.0 * (tokens + 1.0) * options.dim * sizeof(float);
  } else {
    cost.method =
        "The diffusion of the overlaps at large d, with tabulated drift and noise; "
        "approximate: errors of order eta/d.";
    cost.core_seconds = rows * 3.0 + rows * static_cast<double>(options.runs) *
                                         static_cast<double>(options.steps) * options.rate /
                                         options.dim * 50.0 * 6e-8;
  }
  return cost;
}

}  // namespace

Verb sgd_verb() {
  PlainVerb verb;
  verb.family = "ssi";
  verb.name = "sgd";
  verb.summary =
      "ensembles of online SGD runs at any dimension, by the exact chain of the overlaps";
  verb.details =
      "One fresh sample a step, w <- w - eta grad l, then w is scaled back to |w|^2 = d. With --a "
      "and "
      "--omega: how often runs end in the semantic minimum of the positional-semantic model, for "
      "every omega. With --target and --student: how many runs reach --level, and when. --engine "
      "chain (default) simulates the overlaps alone, exactly in law at any d up to 1e12; full has "
      "all "
      "d dimensions; sde is the limit of large d. --out keeps every run's last overlaps and first "
      "passage. Without --steps runs get the time eta n/d = 40 + 8 log d.";
  verb.parameters = model_parameters();
  verb.parameters.push_back(make_parameter("a", ParameterKind::real, {}, 0.0, max_a,
                                           "Strength a of the positional part of the target; with "
                                           "--omega."));
  verb.parameters.push_back(make_parameter("omega", ParameterKind::grid, {}, 0.0, 1.0,
                                           "Weights omega of the positional part; with --a."));
  verb.parameters.push_back(loss_parameter(Loss::half_squared));
  for (Parameter& x : sgd_parameters()) verb.parameters.push_back(std::move(x));
  verb.parameters.push_back(make_parameter("steps", ParameterKind::real, 0.0, 0.0, 1e15,
                                           "Steps of a run; 0: (40 + 8 log d) d/eta."));
  verb.parameters.push_back(
      make_word("engine", {"chain", "full", "sde"}, "How runs are simulated."));
  verb.columns = mixture_columns();
  verb.primary = "p_semantic";
  verb.default_tol = 0.0;
  verb.examples = {
      "ssi sgd --a 1 --omega 0.5:0.75:0.05 --loss frobenius --start zero --dim 200 --runs 128",
      "ssi sgd --target H2sum --tokens 4 --student tied --loss squared --rate 0.05 --level 0.5",
      "ssi sgd --a 1 --omega 0.64 --engine sde --dim 1e9 --runs 512"};
  verb.method = 3;
  verb.cost = sgd_cost;
  verb.run = run_sgd;
  return to_verb(std::move(verb));
}

}  // namespace onset::ssi
