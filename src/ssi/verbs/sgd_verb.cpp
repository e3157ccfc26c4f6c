#include <algorithm>
#include <cmath>
#include <string>

#include "core/definition.hpp"
#include "core/outcome.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/ssi.hpp"
#include "ssi/learners/diffusion.hpp"
#include "ssi/learners/ensemble.hpp"
#include "ssi/verbs/model_fields.hpp"
#include "ssi/verbs/runs_artifact.hpp"
#include "ssi/verbs/sgd_fields.hpp"

namespace onset::ssi {
namespace {

/// Time eta n/d that runs get without --steps: leaving the start takes a multiple of log d.
double default_time(double dim) {
  return 40.0 + 8.0 * std::log(dim);
}

/// Measured, for estimates only: nanoseconds per normal of the full engine.
constexpr double full_ns_per_normal = 1.0;

constexpr const char* passage_meaning =
    "mean first step with max(|e|, |m|) >= level, of the runs that have one";

struct MixtureRow {
  double omega = 0.0;
  Estimate p_semantic = {};
  Estimate converged_fraction = {};
  std::optional<Estimate> mean_steps = {};
};

Columns<MixtureRow> mixture_columns() {
  return Columns<MixtureRow>()
      .add("omega", &MixtureRow::omega, "weight of the positional part of the target")
      .add("p_semantic", &MixtureRow::p_semantic,
           "part of the runs that end with |m| > |e| and max(|e|, |m|) > 0.5")
      .add("converged_fraction", &MixtureRow::converged_fraction,
           "part of the runs that end with max(|e|, |m|) > 0.5")
      .add("mean_steps", &MixtureRow::mean_steps, passage_meaning, "steps");
}

struct TargetRow {
  Estimate reached_fraction = {};
  std::optional<Estimate> mean_steps = {};
  Estimate e = {};
  Estimate m = {};
};

Columns<TargetRow> target_columns() {
  return Columns<TargetRow>()
      .add("reached_fraction", &TargetRow::reached_fraction,
           "part of the runs that reach the level")
      .add("mean_steps", &TargetRow::mean_steps, passage_meaning, "steps")
      .add("e", &TargetRow::e, "mean of |e| at the end")
      .add("m", &TargetRow::m,
           "mean of |m| at the end; of untied students |(m_1, .., m_L)|/sqrt(L)");
}

/// One point of the path of one run.
struct PathRow {
  std::optional<double> omega = {};  ///< of the positional-semantic model
  std::size_t run = 0;
  double time = 0.0;
  double e = 0.0;
  double m = 0.0;
};

Columns<PathRow> path_columns(bool mixture) {
  Columns<PathRow> columns;
  if (mixture) {
    columns.add("omega", &PathRow::omega, "weight of the positional part of the target");
  }
  return columns.add("run", &PathRow::run, "number of the run")
      .add("time", &PathRow::time, "t = eta n/d: learning rate times steps over dimension")
      .add("e", &PathRow::e, "positional overlap")
      .add("m", &PathRow::m, "semantic overlap; of untied students |(m_1, .., m_L)|/sqrt(L)");
}

struct SettledSgd {
  bool mixture = false;
  std::vector<SequenceModel> models;  ///< one for every omega, or that of the target
  SgdOptions options;
};

void require_fit(const Sgd& request, const SequenceModel& model, const SgdOptions& options) {
  options.validate(model);
  if (request.engine == SgdEngine::sde && (request.batch > 1 || request.noise > 0.0)) {
    throw InvalidArgument(request.batch > 1 ? "batch" : "noise", prose(R"(
        has no diffusion here; allowed: with `engine = chain` or `engine = full`)"));
  }
  if (request.engine == SgdEngine::chain) require_batch(model, options);
  if (request.engine == SgdEngine::sde) (void)model.shifts();  // refuses several directions
  if (request.engine == SgdEngine::full && request.dim > max_full_dim) {
    throw InvalidArgument(
        "dim", "is too large for `engine = full`; allowed: up to 1e8, or `engine = chain`");
  }
}

/// Steps of paths, evenly spaced from 0 to the last; fewer than `points` where a path has fewer
/// steps.
std::vector<std::uint64_t> path_steps(std::uint64_t last, int points) {
  std::vector<std::uint64_t> steps;
  for (int i = 0; i < points; ++i) {
    const double part = static_cast<double>(i) / (points - 1.0);
    const auto step = static_cast<std::uint64_t>(std::llround(part * static_cast<double>(last)));
    if (steps.empty() || step > steps.back()) steps.push_back(step);
  }
  return steps;
}

void settle_paths(const Sgd& request, SgdOptions& options) {
  if (request.trajectories == 0) {
    if (request.points == Sgd{}.points) return;
    throw InvalidArgument("points", prose(R"(
        {} has no effect without paths, whose rows it counts; allowed: with `trajectories` of 1 or
        more, or leaving it out ({}))",
                                          request.points, Sgd{}.points));
  }
  if (request.engine == SgdEngine::sde) {
    throw InvalidArgument("trajectories", prose(R"(
        are those of SGD itself; allowed: with `engine = chain` or `engine = full` (ssi flow with
        `method = sde` has the mean path of the diffusion))"));
  }
  if (request.trajectories > request.runs) {
    throw InvalidArgument("trajectories", prose("are more than `runs = {}`; allowed: up to that "
                                                "many",
                                                request.runs));
  }
  options.paths = static_cast<std::size_t>(request.trajectories);
  options.path_steps = path_steps(options.steps, request.points);
}

SettledSgd settle_sgd(Sgd& request) {
  SettledSgd settled;
  settled.mixture = is_mixture(request);
  settled.options = sgd_options(request);
  const double chosen = std::ceil(default_time(request.dim) * request.dim / request.rate);
  settled.options.steps =
      counted_steps(request.steps > 0.0 ? request.steps : chosen, request.dim, request.rate);
  settled.options.batch = static_cast<std::size_t>(request.batch);
  settled.options.noise = request.noise;
  settle_paths(request, settled.options);
  if (!settled.mixture) settled.models.push_back(settle_target(request));
  for (const double omega : request.omega) {
    settled.models.push_back(mixture_model(*request.a, omega, request.loss));
  }
  for (const SequenceModel& model : settled.models) require_fit(request, model, settled.options);
  return settled;
}

std::vector<SgdRun> run_engine(SgdEngine engine, const SequenceModel& model,
                               const SgdOptions& options, const Context& context) {
  if (engine == SgdEngine::full) return run_full_dimension(model, options, context);
  if (engine == SgdEngine::chain) return run_chain(model, options, context);
  Context quiet = context;
  quiet.progress = nullptr;
  const FlowField field(model, options.rate, options.seed, quiet);
  return run_diffusion(field, options, {}, quiet).runs;
}

MixtureRow mixture_row(double omega, const std::vector<SgdRun>& runs) {
  const auto part = [&](bool (*is)(const SgdRun&)) {
    const auto count = std::count_if(runs.begin(), runs.end(), is);
    return numerics::binomial_fraction(count, std::ssize(runs));
  };
  return {.omega = omega,
          .p_semantic = part(is_semantic),
          .converged_fraction = part(is_converged),
          .mean_steps = mean_passage(runs)};
}

void add_paths(const Sgd& request, const SgdOptions& options, std::optional<double> omega,
               const std::vector<SgdRun>& runs, Result& result) {
  const auto columns = path_columns(omega.has_value());
  for (std::size_t r = 0; r < options.paths; ++r) {
    for (std::size_t i = 0; i < runs[r].path.size(); ++i) {
      const double time = static_cast<double>(options.path_steps[i]) * request.rate / request.dim;
      const Overlaps& at = runs[r].path[i];
      result.table.add_row(
          columns.cells({.omega = omega, .run = r + 1, .time = time, .e = at.e, .m = at.m}));
    }
  }
}

void run_mixture(const Sgd& request, const SettledSgd& settled, const Context& context,
                 Result& result) {
  const auto columns = mixture_columns();
  bool half_converged = true;
  for (std::size_t i = 0; i < settled.models.size(); ++i) {
    context.report(static_cast<double>(i) / static_cast<double>(settled.models.size()), "runs");
    const auto runs = run_engine(request.engine, settled.models[i], settled.options, context);
    const MixtureRow row = mixture_row(request.omega[i], runs);
    if (request.trajectories > 0) {
      add_paths(request, settled.options, request.omega[i], runs, result);
    } else {
      result.table.add_row(columns.cells(row));
    }
    result.artifacts.push_back(runs_artifact(runs, "runs/" + std::to_string(i + 1) + ".csv"));
    half_converged = half_converged && row.converged_fraction.value >= 0.5;
  }
  if (half_converged || request.trajectories > 0) return;
  result.unconverged(
      "in some row fewer than half of the runs have converged: more `steps` are needed");
}

/// Means over runs that learned and runs that did not are said to be such.
void say_kinds(const std::vector<SgdRun>& runs, Result& result) {
  const std::int64_t reached = count_reached(runs);
  const std::int64_t others = std::ssize(runs) - reached;
  if (reached == 0 || others == 0) return;
  result.notes.push_back("e and m are means over runs of two kinds: " + std::to_string(reached) +
                         " reached the level, " + std::to_string(others) +
                         " did not; runs.csv under --out has every run.");
}

void run_target(const Sgd& request, const SettledSgd& settled, const Context& context,
                Result& result) {
  context.report(0.0, "runs");
  const auto runs = run_engine(request.engine, settled.models.front(), settled.options, context);
  const bool finite = std::all_of(runs.begin(), runs.end(), [](const SgdRun& run) {
    return std::isfinite(run.e) && std::isfinite(run.m);
  });
  if (!finite) {
    throw Refused(prose(R"(
        some runs are not finite: the target or the student has no value somewhere, or the rate
        is far too large)"));
  }
  const std::size_t directions = settled.models.front().all_encodings().own.size();
  if (directions > 1) {
    result.notes.push_back(prose(R"(
        Encodings have {} directions across the teacher: e is the length of the overlaps with
        them.)",
                                 directions));
  }
  result.artifacts.push_back(runs_artifact(runs, "runs.csv"));
  if (request.trajectories > 0) {
    add_paths(request, settled.options, std::nullopt, runs, result);
    return;
  }
  result.table.add_row(target_columns().cells({.reached_fraction = reached_fraction(runs),
                                               .mean_steps = mean_passage(runs),
                                               .e = mean_size(runs, &SgdRun::e),
                                               .m = mean_size(runs, &SgdRun::m)}));
  say_kinds(runs, result);
  if (count_reached(runs) > 0) return;
  result.unconverged(
      "no run has reached the level: more `steps` may be needed, or a smaller `rate`");
}

void run_sgd(const Sgd& request, const SettledSgd& settled, const Context& context,
             Result& result) {
  const auto steps = settled.options.steps;
  result.table = settled.mixture ? mixture_columns().table() : target_columns().table();
  if (request.trajectories > 0) result.table = path_columns(settled.mixture).table();
  result.summary.emplace_back("steps", static_cast<std::int64_t>(steps));
  result.summary.emplace_back("time", static_cast<double>(steps) * request.rate / request.dim);
  if (settled.mixture) {
    run_mixture(request, settled, context, result);
  } else {
    run_target(request, settled, context, result);
  }
  if (request.trajectories > 0) return;
  judge_tolerance(request.tol, settled.mixture ? "p_semantic" : "reached_fraction",
                  "more `runs` would help", result);
}

Cost sgd_cost(const Sgd& request, const SettledSgd& settled) {
  const SequenceModel& model = settled.models.front();
  const auto rows = static_cast<double>(settled.models.size());
  const double tokens = static_cast<double>(model.tokens()) * request.batch;
  const double runs = rows * request.runs;
  const double work = runs * static_cast<double>(settled.options.steps);
  Cost cost;
  cost.memory_bytes = 50e6 + 200.0 * runs + 16.0 * request.trajectories * request.points;
  if (request.engine == SgdEngine::chain) {
    cost.method = prose(R"(
        The exact Markov chain of the overlaps: 2L fields and one chi-square a step, whatever
        the dimension; 64 runs advance together.)");
    cost.core_seconds = rows * chain_seconds(model, settled.options);
  } else if (request.engine == SgdEngine::full) {
    cost.method = "SGD with all dimensions in single precision: L d normals a step.";
    cost.core_seconds = work * tokens * request.dim * full_ns_per_normal * 1e-9;
    cost.memory_bytes += 8.0 * 64.0 * (tokens + 1.0) * request.dim * sizeof(float);
  } else {
    cost.method = prose(R"(
        The diffusion of the overlaps at large d, with tabulated drift and noise; approximate:
        errors of order eta/d.)");
    cost.core_seconds =
        rows * (FlowField::seconds(model) + diffusion_seconds(model, settled.options));
  }
  return cost;
}

}  // namespace

std::string_view to_string(SgdEngine engine) {
  switch (engine) {
    case SgdEngine::chain: return "chain";
    case SgdEngine::full: return "full";
    case SgdEngine::sde: return "sde";
  }
  return "";
}

VerbOf<Sgd> Sgd::verb() {
  Definition<Sgd, SettledSgd> d;
  d.family = "ssi";
  d.name = "sgd";
  d.summary = "ensembles of online SGD runs at any dimension, by the exact chain of the overlaps";
  d.details = prose(R"(
      Every step takes one fresh sample (or `batch` of them), w <- w - eta grad l, and scales w back to |w|^2 = d.
      With `a` and `omega`, the rows say for every omega how often runs end in the semantic
      minimum of the positional-semantic model; with `target` and `student`, how many runs reach
      `level`, and when. `engine = chain` (the default) simulates the overlaps alone, exactly in
      law at any d up to 1e12; full has all d dimensions; sde is the limit of large d. `out`
      keeps the last overlaps and the first passage of every run. With `trajectories`, the rows
      are the paths of some runs instead. Without `steps`, runs last for
      the time eta n/d = 40 + 8 log d.)");
  d.fields = model_fields<Sgd>();
  d.fields.add("a", &Sgd::a, {.min = 0.0, .max = max_strength}, strength_text)
      .add("omega", &Sgd::omega, {.min = 0.0, .max = 1.0, .grid = true},
           "Weights omega of the positional part; with `a`.");
  add_loss_field(d.fields);
  add_sgd_fields(d.fields);
  d.fields
      .add("steps", &Sgd::steps, {.min = 0.0, .max = max_steps, .whole = true},
           "Steps of a run; 0: (40 + 8 log d) d/eta.")
      .add("batch", &Sgd::batch, {.min = 1, .max = 4096},
           "Fresh samples of a step, whose gradients are averaged.")
      .add("noise", &Sgd::noise, {.min = 0.0, .max = 1e6},
           "Standard deviation of label noise, per output.")
      .add_word("engine", &Sgd::engine, {SgdEngine::chain, SgdEngine::full, SgdEngine::sde},
                "How runs are simulated.")
      .add("trajectories", &Sgd::trajectories, {.min = 0, .max = 1e5},
           "Rows are the paths of this many runs, from the first on; 0: what runs say together.")
      .add("points", &Sgd::points, {.min = 2, .max = 100'000},
           "Rows of a path, from the first step to the last; with `trajectories`.");
  d.rows = {{"", mixture_columns().list()},
            {"with `target`", target_columns().list()},
            {"with `trajectories`", path_columns(true).list()}};
  d.primary = "p_semantic";
  d.examples = {
      "ssi sgd --a 1 --omega 0.5:0.75:0.05 --loss frobenius --start zero --dim 200 --runs 128",
      "ssi sgd --target H2sum --tokens 4 --student tied --loss squared --rate 0.05 --level 0.5",
      "ssi sgd --a 1 --omega 0.67 --rate 0.5 --trajectories 8 --runs 8",
      "ssi sgd --a 1 --omega 0.64 --engine sde --dim 1e9 --runs 512"};
  d.method = 6;
  d.settle = settle_sgd;
  d.cost = sgd_cost;
  d.run = run_sgd;
  return d.verb();
}

}  // namespace onset::ssi
