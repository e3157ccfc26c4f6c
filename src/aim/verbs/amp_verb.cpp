#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "aim/learners/amp.hpp"
#include "aim/learners/label_test.hpp"
#include "aim/limits/curve.hpp"
#include "aim/limits/label_error.hpp"
#include "aim/limits/spectrum.hpp"
#include "aim/model/channel.hpp"
#include "aim/verbs/amp_problem.hpp"
#include "aim/verbs/amp_trajectory.hpp"
#include "aim/verbs/device_field.hpp"
#include "aim/verbs/model_fields.hpp"
#include "aim/verbs/sizes.hpp"
#include "aim/verbs/spread_note.hpp"
#include "aim/verbs/two_layer_runs.hpp"
#include "core/definition.hpp"
#include "core/outcome.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/aim.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {
namespace {

/// Below this many samples for each direction of a token the algorithm is not to be trusted.
constexpr double few_samples = 5.0;
/// Measured product rates of one core and of a GPU, for estimates only.
constexpr double amp_flops_per_second = 3e10;
constexpr double amp_device_flops_per_second = 3e13;
/// The time of an iteration in mixed precision over that in double, likewise.
constexpr double mixed_share = 0.45;
/// At size d thresholds are blurred by some 10/d of alpha, and errors known to 0.1/d.
constexpr double finite_directions = 10.0;
constexpr double finite_error = 0.1;
/// A run whose variance is below its error by this factor is too sure of itself.
constexpr double too_sure_factor = 3.0;

struct AmpRow {
  double alpha = 0.0;
  std::optional<Estimate> mse;
  Estimate mse_theory;
  std::optional<Estimate> variance;
  std::optional<Estimate> test = {};
  std::optional<Estimate> test_theory = {};
  std::optional<Estimate> test_plug_in = {};
  std::optional<Estimate> test_plug_in_theory = {};
  int diverged = 0;
};

Columns<AmpRow> amp_columns() {
  return Columns<AmpRow>()
      .add("alpha", &AmpRow::alpha, data_alpha_meaning)
      .add("mse", &AmpRow::mse, prose(R"(
          ||S_hat - S||_F^2/d, also the test error of an off-diagonal score; mean over the runs
          that did not diverge)"))
      .add("mse_theory", &AmpRow::mse_theory, "least possible error, from state evolution")
      .add("variance", &AmpRow::variance,
           "the algorithm's own estimate of its error; equal to mse on the Nishimori line")
      .add("test", &AmpRow::test, prose(R"(
          error on the labels of new samples, of the best prediction from the estimate and its
          variance: squared, summed over the entries; with hardmax the share of rows whose choice
          is wrong; empty where the truth is not known)"))
      .add("test_theory", &AmpRow::test_theory, "least possible, from state evolution")
      .add("test_plug_in", &AmpRow::test_plug_in,
           "the same for the label that the estimated matrix makes")
      .add("test_plug_in_theory", &AmpRow::test_plug_in_theory, "the same from state evolution")
      .add("diverged", &AmpRow::diverged, "runs that diverged");
}

/// What the runs at one alpha gave.
struct Outcome {
  std::vector<double> mse;
  std::vector<double> variance;
  std::vector<double> test;
  std::vector<double> test_plug_in;
  int diverged = 0;
  int unfinished = 0;
  int too_sure = 0;  ///< runs whose variance is far below their error

  /// `likely`: error that a run may have at this size, for when the truth is not known.
  void add(const AmpRun& run, double likely, double finite_size) {
    if (run.status.reason == StopReason::diverged) {
      ++diverged;
      return;
    }
    unfinished += run.status.converged() ? 0 : 1;
    mse.push_back(run.steps.back().mse);
    variance.push_back(run.steps.back().variance);
    const double error = std::isfinite(mse.back()) ? mse.back() : likely;
    too_sure += error > too_sure_factor * variance.back() + finite_size ? 1 : 0;
  }
  [[nodiscard]] static std::optional<Estimate> mean(const std::vector<double>& values) {
    if (values.empty() || !std::isfinite(values[0])) return std::nullopt;
    return numerics::mean_over_runs(values);
  }
};

/// What state evolution says of the runs at one alpha.
struct Expectation {
  Estimate mmse;
  std::optional<LabelError> labels;
  /// A variance below this has collapsed. At size d the algorithm takes itself to be perfect some
  /// 1/d too early: next to perfect recovery that is no divergence, and seen by comparing with
  /// `mse`.
  double min_variance = 0.0;
  /// The error some samples earlier: errors at size d are no smaller.
  double likely_error = 0.0;
};

Expectation expect(const StateEvolution& evolution, const LabelErrors& labels, double alpha,
                   std::size_t dim) {
  constexpr double share = 0.3;
  const double blur = 1.0 + finite_directions / static_cast<double>(dim);
  const CurvePoint point = evolution.at(alpha);
  return {.mmse = point.mmse,
          .labels = labels.at(point.overlap, point.mmse),
          .min_variance = share * evolution.at(alpha * blur).mmse.value,
          .likely_error = evolution.at(alpha / blur).mmse.value};
}

/// Tries the estimate of a run that did not diverge on new labels.
void add_test(const AmpProblem& problem, const AmpRun& amp, std::vector<double> truth,
              std::uint64_t run, const Context& context, Outcome& outcome) {
  if (truth.empty() || amp.status.reason == StopReason::diverged) return;
  const LabelTest test(problem.model, std::move(truth), problem.dim, problem.seed, run, context);
  outcome.test.push_back(test.best(amp.estimate, amp.steps.back().variance, context));
  outcome.test_plug_in.push_back(test.plug_in(amp.estimate, context));
}

AmpRow row_of(double alpha, const Outcome& outcome, const Expectation& expected) {
  AmpRow row{.alpha = alpha,
             .mse = Outcome::mean(outcome.mse),
             .mse_theory = expected.mmse,
             .variance = Outcome::mean(outcome.variance),
             .test = Outcome::mean(outcome.test),
             .test_plug_in = Outcome::mean(outcome.test_plug_in),
             .diverged = outcome.diverged};
  if (expected.labels) {
    row.test_theory = expected.labels->bayes;
    row.test_plug_in_theory = expected.labels->plug_in;
  }
  return row;
}

void judge(double alpha, std::size_t dim, const Outcome& outcome, Result& result) {
  const std::string where = "at alpha = " + to_text(Value(alpha));
  if (outcome.mse.empty()) {
    result.unconverged("all runs diverged " + where);
  } else if (outcome.unfinished > 0) {
    result.unconverged(fmt::format(
        "{} of {} run(s) {} still moved after the last iteration; more `iterations` may help",
        outcome.unfinished, outcome.mse.size(), where));
  }
  if (outcome.too_sure > 0) {
    result.notes.push_back(prose(R"(
        alpha = {}: {} run(s) are surer of themselves than they should be: their variance is far
        below the error that they have (or, where the truth is not known, may well have at this
        size).)",
                                 to_text(Value(alpha)), outcome.too_sure));
  }
  const double per_direction = ratio_of(samples_of(alpha, dim), dim) * static_cast<double>(dim);
  if (per_direction < few_samples) {
    result.notes.push_back(prose(R"(
        alpha = {}: alpha d = {:.3g} is below 5, and so few samples are far from the limit of
        large d.)",
                                 to_text(Value(alpha)), per_direction));
  }
}

void run_amp(const Amp& request, const AmpProblem& problem, const Context& context,
             Result& result) {
  if (problem.model.is_deep()) return run_two_layers(request, problem, context, result);
  const auto columns = amp_columns();
  result.table = columns.table();
  const AmpSamples samples(problem);
  const StateEvolution evolution(problem.model, request.seed, context);
  const LabelErrors labels(problem.model, request.seed);
  add_sizes(*request.rho, problem.model, problem.dim, request.alpha, result);
  AmpOptions options;
  options.max_iterations = request.iterations;
  options.damping = request.damping;
  options.single = request.precision == AmpPrecision::mixed;
  options.norm_aware = request.variances == ScoreVariances::norms;
  const int runs = *request.runs;
  const double all = static_cast<double>(request.alpha.size()) * runs;
  double done = 0.0;
  Table trajectory = trajectory_table();
  keep_rows(result, [&] {  // the trajectory is given however the runs end
    for (const double alpha : request.alpha) {
      const double ratio = ratio_of(samples_of(alpha, problem.dim), problem.dim);
      const Expectation expected = expect(evolution, labels, ratio, problem.dim);
      options.settles = expected.mmse.value > 0.0;
      options.min_variance = expected.min_variance;
      Outcome outcome;
      for (int run = 0; run < runs; ++run) {
        StoredData sample = samples.at(alpha, static_cast<std::uint64_t>(run), context);
        const AmpRun amp =
            approximate_message_passing(problem.model, sample.data, sample.truth, options, context);
        outcome.add(amp, expected.likely_error, finite_error / static_cast<double>(problem.dim));
        add_test(problem, amp, std::move(sample.truth), static_cast<std::uint64_t>(run), context,
                 outcome);
        add_steps(alpha, run + 1, amp, trajectory);
        context.report(++done / all, "message passing");
      }
      result.table.add_row(columns.cells(row_of(alpha, outcome, expected)));
      judge(alpha, problem.dim, outcome, result);
      if (!options.settles) say_spread(alpha, outcome.mse, result);
    }
  });
  result.artifacts.push_back({"trajectory.csv", std::move(trajectory)});
}

/// Measured: few iterations where there is little to learn, many from perfect recovery on (where
/// there is none, where little error is left).
double typical_iterations(const AttentionIndexed& model, double alpha) {
  const double shown = model.channel->shown(model);
  const double tokens = model.tokens;
  const double enough = shown > 0.0 ? shrinkage_without_noise(model.rho) / (2.0 * shown)
                                    : 2.0 / (tokens * (tokens - 1.0));
  return 10.0 + 85.0 * std::pow(std::min(1.0, alpha / enough), 2);
}

Cost amp_cost(const Amp& request, const AmpProblem& problem) {
  if (problem.model.is_deep()) return two_layers_cost(request, problem);
  Cost cost;
  cost.method = prose(R"(
      Approximate message passing: per iteration two products of an n T x d matrix with a d x d
      one, the output function of every sample, and one eigendecomposition; damped, variances in
      proportion to the tokens' norms. Memory: tokens once, their products or a copy in single
      precision once, labels and messages; never d^2 per sample.)");
  const auto d = static_cast<double>(problem.dim);
  const AttentionIndexed& model = problem.model;
  const double tokens = model.tokens;
  const bool on_device = problem.device == device::DeviceKind::gpu;
  const double rate = on_device ? amp_device_flops_per_second : amp_flops_per_second;
  const double share = request.precision == AmpPrecision::mixed ? mixed_share : 1.0;
  for (const double alpha : request.alpha) {
    const double samples = std::max(1.0, alpha * d * d);
    const double flops = 4.0 * samples * tokens * d * d + 15.0 * d * d * d;
    cost.core_seconds += (share * flops / rate + model.channel->output_seconds(model) * samples) *
                         typical_iterations(model, alpha) * *request.runs;
    cost.core_seconds +=
        4.0 * LabelTest::samples * tokens * d * d / amp_flops_per_second * *request.runs;
    if (!problem.files) cost.core_seconds += teacher_seconds(d, model.rho * d) * *request.runs;
  }
  const double most =
      std::max(max_samples(request.alpha, d), static_cast<double>(LabelTest::samples));
  const double inputs = on_device ? 0.0 : 2.0 * most * tokens * d;
  const double messages =
      program_bytes + 8.0 * (inputs + 4.0 * most * tokens * (tokens + 1.0) + 10.0 * d * d);
  if (problem.files) {
    const auto samples = static_cast<double>(problem.files->samples);
    cost.memory_bytes = messages + 8.0 * samples * tokens * (d + 2.0 * tokens);
  } else if (on_device) {
    cost.memory_bytes = messages;
  } else {
    cost.memory_bytes = std::max(messages, data_bytes(most, tokens, d, model.rho * d));
  }
  return cost;
}

}  // namespace

VerbOf<Amp> Amp::verb() {
  Definition<Amp, AmpProblem> d;
  d.family = "aim";
  d.name = "amp";
  d.summary = "approximate message passing on data of the attention-indexed model";
  d.details = prose(R"(
      Draws teachers and n = alpha d^2 samples (or reads them from `data`), runs the structured
      algorithm, and compares its error with that of state evolution. alpha is n/d^2, samples
      over dimension squared; theory and runs agree where alpha d is 10 or more, away from
      perfect recovery. Every estimate is tried on the labels of 2000 new samples besides. With
      `layers = 2` and `prior = wigner` two Gaussian matrices stand behind one label (see aim
      curve), each with a row. With `out`, trajectory.csv lists every iteration: errors, overlaps
      (equal on the Nishimori line) and eigenvalues. Errors are the scatter of the runs, with
      Student's factor for few of them; the error of a single run is not known. Runs that
      diverge are counted; runs that still move after `iterations` make the result unconverged.
      The tolerance is not used to stop.)");
  d.fields = problem_fields();
  d.fields
      .add("iterations", &Amp::iterations, {.min = 1, .max = 100000},
           "Largest number of iterations of a run.")
      .add("damping", &Amp::damping, {.min = 0.0, .max = 0.99}, prose(R"(
          Share of the old estimate that is kept; it is raised while the estimate oscillates. 0
          turns damping off.)"))
      .add_word("variances", &Amp::variances, {ScoreVariances::norms, ScoreVariances::plain},
                prose(R"(
          Variances of scores: in proportion to the squared norms of the tokens, or the same for
          all.)"))
      .add_word("precision", &Amp::precision, std::vector{AmpPrecision::mixed, AmpPrecision::full},
                prose(R"(
          Numbers in the large products and eigenvectors: single precision while the variance is
          above 1e-3, where rounding changes mse by less than 1e-4 of itself, and double below
          (mixed), or double throughout. mixed unless given; double on a GPU.)"));
  add_device(d.fields);
  d.rows = {{"", amp_columns().list()},
            {"with several layers behind one label", two_layer_run_columns()}};
  d.primary = "mse";
  d.method = 7;
  d.examples = {"aim amp --dim 100 --channel softmax --tokens 2 --rho 0.5 --alpha 0.1,0.12",
                "aim amp --dim 100 --channel hardmax --rho 0.5 --alpha 0.2:1:0.2 --runs 8",
                "aim amp --prior wigner --layers 2 --dim 100 --alpha 0.2,0.4",
                "aim amp --data data"};
  d.settle = settle_problem;
  d.cost = amp_cost;
  d.run = run_amp;
  return d.verb();
}

}  // namespace onset::aim
