#include "aim/verbs/two_layer_runs.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "aim/learners/two_layer_amp.hpp"
#include "aim/limits/two_layer_curve.hpp"
#include "aim/verbs/model_fields.hpp"
#include "aim/verbs/sizes.hpp"
#include "core/outcome.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {
namespace {

/// One layer at one alpha.
struct LayerRunRow {
  double alpha = 0.0;
  int layer = 1;
  std::optional<Estimate> mse = {};
  Estimate mse_theory;
  std::optional<Estimate> variance = {};
  std::optional<Estimate> overlap = {};
  int diverged = 0;
};

Columns<LayerRunRow> layer_run_columns() {
  return Columns<LayerRunRow>()
      .add("alpha", &LayerRunRow::alpha, data_alpha_meaning)
      .add("layer", &LayerRunRow::layer, "from 1; the last one makes the label")
      .add("mse", &LayerRunRow::mse,
           "||S_hat - S||_F^2/d of the layer's matrix; mean over the runs that did not diverge")
      .add("mse_theory", &LayerRunRow::mse_theory, "least possible error, from state evolution")
      .add("variance", &LayerRunRow::variance,
           "the algorithm's own estimate of its error; equal to mse on the Nishimori line")
      .add("overlap", &LayerRunRow::overlap, "Tr(S S_hat)/d")
      .add("diverged", &LayerRunRow::diverged, "runs that diverged");
}

/// One layer in one iteration of one run.
struct LayerStepRow {
  double alpha = 0.0;
  int run = 1;
  int iteration = 1;
  int layer = 1;
  double mse = 0.0;
  double variance = 0.0;
  double overlap = 0.0;
  double self_overlap = 0.0;
  double qhat = 0.0;
  double step = 0.0;
};

Columns<LayerStepRow> layer_step_columns() {
  return Columns<LayerStepRow>()
      .add("alpha", &LayerStepRow::alpha, "sample ratio")
      .add("run", &LayerStepRow::run, "from 1")
      .add("iteration", &LayerStepRow::iteration, "from 1")
      .add("layer", &LayerStepRow::layer, "from 1")
      .add("mse", &LayerStepRow::mse, "||S_hat - S||_F^2/d")
      .add("variance", &LayerStepRow::variance, "the algorithm's own estimate of it")
      .add("overlap", &LayerStepRow::overlap, "Tr(S S_hat)/d")
      .add("self_overlap", &LayerStepRow::self_overlap,
           "||S_hat||_F^2/d; equal to overlap on the Nishimori line")
      .add("qhat", &LayerStepRow::qhat, "precision of the matrix as the labels show it")
      .add("step", &LayerStepRow::step, "||S_hat' - S_hat||_F^2/d");
}

void add_layer_steps(double alpha, int run, const TwoLayerRun& amp, Table& table) {
  const auto columns = layer_step_columns();
  int iteration = 0;
  for (const auto& layers : amp.steps) {
    ++iteration;
    int layer = 0;
    for (const TwoLayerStep& s : layers) {
      if (!std::isfinite(s.mse) || !std::isfinite(s.conjugate)) continue;
      table.add_row(columns.cells({alpha, run, iteration, ++layer, s.mse, s.variance, s.overlap,
                                   s.self_overlap, s.conjugate, s.step}));
    }
  }
}

/// What the runs at one alpha gave, by layer.
struct LayerOutcome {
  std::array<std::vector<double>, 2> mse;
  std::array<std::vector<double>, 2> variance;
  std::array<std::vector<double>, 2> overlap;
  int diverged = 0;
  int unfinished = 0;

  void add(const TwoLayerRun& run) {
    if (run.status.reason == StopReason::diverged) {
      ++diverged;
      return;
    }
    unfinished += run.status.converged() ? 0 : 1;
    for (std::size_t l = 0; l < 2; ++l) {
      mse[l].push_back(run.steps.back()[l].mse);
      variance[l].push_back(run.steps.back()[l].variance);
      overlap[l].push_back(run.steps.back()[l].overlap);
    }
  }
  [[nodiscard]] static std::optional<Estimate> mean(const std::vector<double>& values) {
    return values.empty() ? std::nullopt : std::optional(numerics::mean_over_runs(values));
  }
};

void add_layer_rows(const TwoLayerPoint& theory, const LayerOutcome& outcome, Result& result) {
  const auto columns = layer_run_columns();
  for (std::size_t l = 0; l < 2; ++l) {
    result.table.add_row(columns.cells({.alpha = theory.alpha,
                                        .layer = static_cast<int>(l) + 1,
                                        .mse = LayerOutcome::mean(outcome.mse[l]),
                                        .mse_theory = theory.mmse[l],
                                        .variance = LayerOutcome::mean(outcome.variance[l]),
                                        .overlap = LayerOutcome::mean(outcome.overlap[l]),
                                        .diverged = outcome.diverged}));
  }
  const std::string where = "at alpha = " + to_text(Value(theory.alpha));
  if (outcome.mse[0].empty()) {
    result.unconverged("all runs diverged " + where);
  } else if (outcome.unfinished > 0) {
    result.unconverged(fmt::format(
        "{} of {} run(s) {} still moved after the last iteration; more `iterations` may help",
        outcome.unfinished, outcome.mse[0].size(), where));
  }
  if (theory.hard) {
    result.notes.push_back(prose(R"(
        alpha = {}: state evolution that starts from nothing known, as message passing does, ends
        at a larger error than the least possible one.)",
                                 to_text(Value(theory.alpha))));
  }
}

/// Says where rounding to whole samples changed a ratio.
void add_rounded_samples(const std::vector<double>& alphas, std::size_t dim, Result& result) {
  constexpr double rounding = 1e-12;
  for (const double alpha : alphas) {
    const double used = ratio_of(samples_of(alpha, dim), dim);
    if (std::abs(alpha - used) <= rounding * used) continue;
    result.notes.push_back(
        fmt::format("alpha = {} means n = {} samples at this dimension: {} was used.",
                    to_text(Value(alpha)), samples_of(alpha, dim), to_text(Value(used))));
  }
}

TwoLayerOptions options_of(const Amp& request, const TwoLayerPoint& theory) {
  constexpr double collapsed = 0.1;  ///< a variance this far below the least error
  TwoLayerOptions options;
  options.amp.max_iterations = request.iterations;
  options.amp.damping = request.damping;
  options.amp.norm_aware = request.variances == ScoreVariances::norms;
  options.amp.settles = theory.mmse[0].value > 0.0;
  for (std::size_t l = 0; l < 2; ++l) {
    options.min_variance[l] = theory.hard ? 0.0 : collapsed * theory.mmse[l].value;
  }
  return options;
}

}  // namespace

std::vector<Column> two_layer_run_columns() {
  return layer_run_columns().list();
}

Cost two_layers_cost(const Amp& request, const AmpProblem& problem) {
  constexpr double posterior_seconds = 8e-5;  // measured
  constexpr double flops_of_a_core = 3e10;
  constexpr double iterations = 60.0;
  const auto d = static_cast<double>(problem.dim);
  Cost cost;
  cost.method = prose(R"(
      Approximate message passing of two layers: per iteration four products of an n T x d matrix
      with a d x d one, and for every sample an integral over the two fields of the first layer;
      the denoiser is linear. The limit beside it:)") +
                " " + two_layer_plan().method;
  for (const double alpha : request.alpha) {
    const double samples = std::max(1.0, alpha * d * d);
    const double iteration =
        8.0 * samples * 2.0 * d * d / flops_of_a_core + posterior_seconds * samples;
    cost.core_seconds += iteration * iterations * *request.runs + two_layer_plan().core_seconds;
  }
  const double most = max_samples(request.alpha, d);
  cost.memory_bytes = program_bytes + 8.0 * (4.0 * most * d + 30.0 * most + 12.0 * d * d);
  return cost;
}

void run_two_layers(const Amp& request, const AmpProblem& problem, const Context& context,
                    Result& result) {
  result.table = layer_run_columns().table();
  add_rounded_samples(request.alpha, problem.dim, result);
  std::vector<double> ratios;
  for (const double alpha : request.alpha) {
    ratios.push_back(ratio_of(samples_of(alpha, problem.dim), problem.dim));
  }
  const auto theory = two_layer_curve(problem.model, ratios, request.seed, context);
  const int runs = *request.runs;
  const double all = static_cast<double>(theory.size()) * runs;
  double done = 0.0;
  Table trajectory = layer_step_columns().table();
  keep_rows(result, [&] {
    for (std::size_t i = 0; i < theory.size(); ++i) {
      TwoLayerPoint point = theory[i];
      point.alpha = request.alpha[i];
      const TwoLayerOptions options = options_of(request, point);
      LayerOutcome outcome;
      for (int run = 0; run < runs; ++run) {
        const DataSource source{problem.seed, static_cast<std::uint64_t>(run), problem.device};
        const TwoLayerData data = sample_two_layers(
            problem.model, problem.dim, samples_of(request.alpha[i], problem.dim), source, context);
        const TwoLayerRun amp = two_layer_message_passing(problem.model, data, options, context);
        outcome.add(amp);
        add_layer_steps(point.alpha, run + 1, amp, trajectory);
        context.report(++done / all, "message passing");
      }
      add_layer_rows(point, outcome, result);
    }
  });
  result.artifacts.push_back({"trajectory.csv", std::move(trajectory)});
}

}  // namespace onset::aim
