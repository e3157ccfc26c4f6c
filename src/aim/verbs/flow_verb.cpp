#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "aim/limits/curve.hpp"
#include "aim/limits/flow/solution.hpp"
#include "aim/limits/flow/stability.hpp"
#include "aim/limits/flow/student_spectrum.hpp"
#include "aim/verbs/flow_cost.hpp"
#include "aim/verbs/flow_rows.hpp"
#include "aim/verbs/model_fields.hpp"
#include "aim/verbs/student_fields.hpp"
#include "core/definition.hpp"
#include "core/outcome.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/aim.hpp"

namespace onset::aim {
namespace {

struct StudentDensityRow {
  double time = 0.0;
  double x = 0.0;
  Estimate density;
};

Columns<StudentDensityRow> student_density_columns() {
  return Columns<StudentDensityRow>()
      .add("time", &StudentDensityRow::time, flow_time_meaning)
      .add("x", &StudentDensityRow::x, "eigenvalue of the student's matrix")
      .add("density", &StudentDensityRow::density,
           "density of eigenvalues through a Lorentzian of half-width `smoothing`, without those "
           "that are 0 whatever is learned");
}

struct SettledFlow {
  FlowModel model;
  std::vector<double> times;  ///< increasing, each once
  double max_rate = 0.0;      ///< of stability; infinite where there is none
};

std::vector<double> increasing(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

void settle_times(Flow& request) {
  const bool spectrum = !request.spectrum.empty();
  if (request.time.empty() && !spectrum) {
    throw InvalidArgument("time", "is needed (or `spectrum`); allowed: a grid of times from 0");
  }
  if (!request.time.empty() && spectrum) {
    throw InvalidArgument("spectrum", "has rows of its own; allowed: `time` or `spectrum`");
  }
  if (spectrum && !request.smoothing) request.smoothing = SpectrumOptions{}.smoothing;
  if (!spectrum && request.smoothing) {
    throw InvalidArgument("smoothing",
                          "has a meaning only with `spectrum`; allowed: leaving it out");
  }
  if (!spectrum && request.points != Flow{}.points) {
    throw InvalidArgument("points", "are of a `spectrum`; allowed: leaving it out");
  }
}

/// Matrices are drawn only where there is no closed form.
void check_matrices(const Flow& request, const FlowModel& model) {
  if (!has_closed_path(model)) return;
  const auto reject = [](const char* name) {
    throw InvalidArgument(name, prose(R"(
        is of matrices that are drawn, and this student has a closed form; allowed: leaving it out,
        or a `rate` with a tied or untied student, or an untied one from a gaussian start)"));
  };
  if (request.size != Flow{}.size) reject("size");
  if (request.draws != Flow{}.draws) reject("draws");
}

/// Two tokens and linear labels are exact to rounding; more tokens cost more, and their noise is
/// sampled. Students of hardmax labels grow without end, and so does their error.
double usual_tolerance(const FlowModel& model) {
  if (model.labels.channel == &hardmax_channel()) return 1e-2;
  if (model.labels.tokens == 2 || model.labels.channel == &linear_channel()) return 1e-8;
  return model.rate > 0.0 ? 1e-3 : 1e-5;
}

SettledFlow settle_flow(Flow& request) {
  settle_times(request);
  SettledFlow settled;
  const AttentionIndexed labels = settle_model(request);
  settled.model = settle_student(labels, request.student, request.loss, request.start,
                                 request.scale, request.width_ratio, request.decay);
  settled.model.rate = request.rate.value_or(0.0);
  check_matrices(request, settled.model);
  const auto risk = make_risk(settled.model, Precision::coarse, request.seed);
  if (request.rate) check_rate(settled.model, *risk);
  if (!request.spectrum.empty() && !has_closed_path(settled.model)) {
    throw Refused(
        "the spectrum of a tied or untied student under the noise of SGD, and of an untied one "
        "from a gaussian start, has no closed form; possible are leaving out the rate, `start = "
        "identity` and `student = direct`");
  }
  settled.max_rate = has_noise(labels) ? max_stable_rate(settled.model, *risk)
                                       : std::numeric_limits<double>::infinity();
  settled.times = increasing(request.spectrum.empty() ? request.time : request.spectrum);
  if (!request.tol && has_closed_path(settled.model)) {
    request.tol = usual_tolerance(settled.model);
  }
  return settled;
}

void run_spectra(const Flow& request, const SettledFlow& settled, const Context& context,
                 Result& result) {
  const auto columns = student_density_columns();
  result.table = columns.table();
  const SpectrumOptions options{*request.smoothing, request.points};
  const auto spectra = student_spectra(settled.model, settled.times, options, context);
  for (const StudentSpectrum& spectrum : spectra) {
    for (std::size_t i = 0; i < spectrum.x.size(); ++i) {
      result.table.add_row(columns.cells(
          {.time = spectrum.time, .x = spectrum.x[i], .density = spectrum.density[i]}));
    }
  }
  if (!spectra.empty()) result.summary.emplace_back("atom", spectra.front().atom);
  if (spectra.size() < settled.times.size()) {
    result.unconverged("the integration ended before the last time");
  }
}

/// A time of the summary; a note where it does not come.
void add_mark(const char* name, const char* what, const std::optional<Estimate>& time,
              Result& result) {
  result.summary.emplace_back(name, time.value_or(no_estimate));
  if (!time) result.notes.push_back(std::string(what) + " is not reached within `time`.");
}

void run_path(const Flow& request, const SettledFlow& settled, const Context& context,
              Result& result) {
  const FlowModel& model = settled.model;
  const auto columns = flow_columns(model);
  result.table = columns.table();
  FlowOptions options;
  options.seed = request.seed;
  options.size = static_cast<std::size_t>(request.size);
  options.draws = static_cast<std::size_t>(request.draws);
  const FlowSolution solution = solve_flow(model, settled.times, options, context);
  std::unique_ptr<const StateEvolution> evolution;
  if (model.rate > 0.0) {
    evolution = std::make_unique<StateEvolution>(model.labels, request.seed, context);
  }
  for (std::size_t i = 0; i < solution.students.size(); ++i) {
    FlowRow row = flow_row(solution.students[i]);
    row.time = settled.times[i];
    if (evolution) {
      row.alpha = row.time / model.rate;
      row.mmse = evolution->at(*row.alpha).mmse;
    }
    result.table.add_row(columns.cells(row));
  }
  add_mark("escape", "An alignment of 1/2", solution.escape, result);
  add_mark("half", "Half of the first squared error", solution.half, result);
  if (std::isfinite(settled.max_rate)) {
    result.summary.emplace_back("max_rate", settled.max_rate);
  }
  if (!solution.status.converged()) {
    result.unconverged("the integration ended early: " +
                       std::string(to_string(solution.status.reason)));
  }
  judge_tolerance(request.tol.value_or(0.0), "mse",
                  has_closed_path(model) ? "shorter times would help"
                                         : "more `draws` and a larger `size` would help",
                  result);
}

void run_flow(const Flow& request, const SettledFlow& settled, const Context& context,
              Result& result) {
  if (request.spectrum.empty()) {
    run_path(request, settled, context, result);
  } else {
    run_spectra(request, settled, context, result);
  }
}

Cost flow_cost(const Flow& request, const SettledFlow& settled) {
  const FlowModel& model = settled.model;
  Cost cost;
  cost.method =
      "Dormand and Prince on the closed equations of the student: three numbers for a direct one, "
      "one for each node of the teacher's law for a tied or untied one, with one scalar root for a "
      "gaussian start. Risks by trapezoid rules. Errors are differences of two rules.";
  if (!has_closed_path(model)) {
    cost.method +=
        " The noise of SGD, and antisymmetric scores, by pairs of matrices that share their start, "
        "one of each pair with a closed form; extrapolated from two sizes, errors over draws.";
  }
  cost.core_seconds = flow_seconds(model, settled.times.back(),
                                   {.seed = request.seed,
                                    .size = static_cast<std::size_t>(request.size),
                                    .draws = static_cast<std::size_t>(request.draws)});
  cost.memory_bytes = 50e6;
  return cost;
}

}  // namespace

VerbOf<Flow> Flow::verb() {
  Definition<Flow, SettledFlow> d;
  d.family = "aim";
  d.name = "flow";
  d.summary = "how online SGD learns the attention matrix in large dimension";
  d.details = prose(R"(
      The limit of online SGD (every batch is fresh) on a student's matrix: what a direct,
      tied or untied student knows at time tau = eta steps/d. Without `rate` that of small
      steps; with a rate eta d/batch, the noise of SGD is part of it and time is a number
      of samples, alpha = n/d^2 = tau/rate (samples over dimension squared), beside which
      mmse is the least possible error. The summary has the time at which the alignment
      with the teacher is 1/2 (escape) and that at which mse is half of the first (half).
      Direct students, tied ones without a rate and untied ones from the identity are
      exact; the rest has errors over `draws`. `spectrum` gives the density of the
      student's eigenvalues instead.)");
  d.fields = model_fields<Flow>();
  add_student_fields(d.fields);
  d.fields
      .add("rate", &Flow::rate, {.min = 0.0, .max = 1e6, .open_min = true},
           "Learning rate times dimension over batch, eta d/batch: the noise of SGD; none unless "
           "given.")
      .add("time", &Flow::time, {.min = 0.0, .max = max_flow_time, .grid = true},
           "Times tau = eta steps/d.")
      .add("spectrum", &Flow::spectrum, {.min = 0.0, .max = max_flow_time, .grid = true},
           "Times at which the density of the student's eigenvalues is given instead.")
      .add("smoothing", &Flow::smoothing, {.min = 1e-3, .max = 1.0},
           "Half-width of the Lorentzian through which it is seen; 0.02 unless given.")
      .add("points", &Flow::points, {.min = 2, .max = 10000}, "Eigenvalues of each density.")
      .add("size", &Flow::size, {.min = 16, .max = 1000},
           "Size of the matrices where there is no closed form; half of it is used too.")
      .add("draws", &Flow::draws, {.min = 2, .max = 10000}, "Pairs of such matrices.");
  d.rows = {{"", flow_columns({}).list()},
            {"with `rate`, `student = untied` and `channel = hardmax`",
             flow_columns(with_every_column()).list()},
            {"with `spectrum`", student_density_columns().list()}};
  d.primary = "mse";
  d.method = 4;
  d.usual_tolerance =
      "1e-8 (1e-5 beyond two tokens, 1e-3 there with a rate, 1e-2 for hardmax), and what comes out "
      "where matrices are drawn,";
  d.examples = {"aim flow --rho 0.5 --width-ratio 0.75 --scale 0.4 --time 0:3:0.5",
                "aim flow --student direct --rate 1 --time 0.5,1,2",
                "aim flow --scale 0.4 --spectrum 0.4,1"};
  d.settle = settle_flow;
  d.cost = flow_cost;
  d.run = run_flow;
  return d.verb();
}

}  // namespace onset::aim
