#include <algorithm>
#include <functional>
#include <string>

#include "aim/limits/erm/recovery.hpp"
#include "aim/limits/erm/training.hpp"
#include "aim/limits/thresholds.hpp"
#include "aim/model/channel.hpp"
#include "aim/verbs/model_fields.hpp"
#include "aim/verbs/training_fields.hpp"
#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/aim.hpp"

namespace onset::aim {
namespace {

struct ThresholdRow {
  std::string kind;
  Estimate alpha;
  std::optional<Estimate> decay = {};
};

Columns<ThresholdRow> threshold_columns() {
  return Columns<ThresholdRow>()
      .add(
          "kind", &ThresholdRow::kind,
          "weak: the estimate becomes better than none (only in the limit of small widths); "
          "two-bands: the spectrum that the denoiser sees splits in two (rho < 1); perfect: S is "
          "known exactly; recovery: the interpolator of least trace is S (labels without noise); "
          "interpolation: up to here noisy labels can be fitted by some S >= 0; decay_max: at this "
          "alpha, the smallest weight decay that leaves S = 0 in training")
      .add("alpha", &ThresholdRow::alpha, alpha_meaning)
      .add("decay", &ThresholdRow::decay, "of decay_max: the weight decay lambda of aim erm");
}

struct SettledThresholds {
  AttentionIndexed model;
  InformationPlan plan;
};

/// One matrix of positive width: what `aim erm` trains.
bool can_be_trained(const AttentionIndexed& model) {
  return model.prior == PriorKind::wishart && model.rho > 0.0 && model.layers == 1;
}

SettledThresholds settle_thresholds(Thresholds& request) {
  const AttentionIndexed model = settle_model(request);
  if (request.alpha.empty()) refuse_beta_of_hardmax(model);
  if (!request.alpha.empty()) {
    if (!can_be_trained(model)) {
      throw InvalidArgument(
          "alpha",
          "is where training of one matrix of width ratio rho > 0 is asked about; "
          "allowed with `prior = wishart`, `layers = 1` and `rho` above 0");
    }
    settle_loss(model, request.loss);
    (void)checked_training(model, *request.loss, Penalty::trace, request.seed);
  }
  if (request.alpha.empty() && request.loss) {
    throw InvalidArgument("loss",
                          "is of the training whose largest decay is asked for by `alpha`; allowed "
                          "without `alpha`: leaving it out");
  }
  InformationPlan plan = model.channel->information_plan(model);
  if (!request.tol) request.tol = plan.tolerance;
  return {model, std::move(plan)};
}

/// Thresholds of training with weight decay [aim 96, 97]. With noise of one size on all scores
/// behind a softmax the directions are unequal, and nothing is known.
void add_training_thresholds(const AttentionIndexed& model,
                             const std::function<void(ThresholdRow)>& add) {
  const double shown = model.channel->shown(model);
  if (!can_be_trained(model) || shown == 0.0) return;
  constexpr double rounding = 1e-12;
  const double equations = 2.0 * shown;  // A / alpha
  if (model.noise_variance == 0.0) {
    const double alpha = trace_recovery(model.rho) / equations;
    add({.kind = "recovery", .alpha = {alpha, rounding * alpha}});
    return;
  }
  const bool equal = model.noise_kind == NoiseKind::equal;
  if (equal && model.channel != &linear_channel()) return;
  const double tokens = model.tokens;
  const double noise = model.noise_variance * (equal ? tokens / (tokens + 1.0) : 1.0);
  const double alpha = trace_interpolation(model.rho, noise) / equations;
  add({.kind = "interpolation", .alpha = {alpha, rounding * alpha}});
}

/// Why there is no row, for people.
void add_notes(const AttentionIndexed& model, const BayesThresholds& found, Result& result) {
  if (found.sum) {
    result.notes.push_back(
        "No perfect recovery of the layers: labels show only their sum, which is known exactly "
        "from alpha = " +
        to_text(Value(found.sum->value)) + " on; 1 - 1/" + std::to_string(model.layers) +
        " of each layer's variance is left.");
  } else if (!found.perfect) {
    result.notes.push_back("No perfect recovery: " + model.channel->why_never_perfect(model) + ".");
  }
  if (!found.weak && model.prior == PriorKind::wishart) {
    result.notes.emplace_back(
        "No weak threshold at rho > 0: the first samples help. `rho = 0` is the limit of small "
        "widths.");
  }
}

void run_thresholds(const Thresholds& request, const SettledThresholds& settled,
                    const Context& context, Result& result) {
  const auto columns = threshold_columns();
  result.table = columns.table();
  const BayesThresholds found = bayes_thresholds(settled.model, request.seed, context);
  const auto add = [&](const char* kind, const std::optional<Estimate>& alpha) {
    if (!alpha) return;
    result.table.add_row(columns.cells({.kind = kind, .alpha = *alpha}));
    if (alpha->error > *request.tol * std::max(1.0, alpha->value)) {
      result.unconverged("the asked tolerance " + to_text(Value(*request.tol)) +
                         " was not reached");
    }
  };
  add("weak", found.weak);
  add("two-bands", found.two_bands);
  add("perfect", found.perfect);
  add_training_thresholds(
      settled.model, [&](const ThresholdRow& row) { result.table.add_row(columns.cells(row)); });
  if (!request.alpha.empty()) {
    const Training training(settled.model, *request.loss, Penalty::trace, request.seed);
    for (const double alpha : request.alpha) {
      context.check();
      result.table.add_row(columns.cells(
          {.kind = "decay_max", .alpha = {alpha, 0.0}, .decay = training.max_decay(alpha)}));
    }
  }
  add_notes(settled.model, found, result);
}

Cost thresholds_cost(const Thresholds& request, const SettledThresholds& settled) {
  Cost cost;
  cost.method =
      "Closed forms: counting for perfect recovery, the spectrum's own boundary for two bands, the "
      "transition of the largest eigenvalue for weak recovery, and the information of one label.";
  if (!settled.plan.method.empty()) cost.method += " " + settled.plan.method;
  constexpr double decay_seconds = 0.2;  // of one decay_max, measured
  cost.core_seconds =
      1e-2 + settled.plan.core_seconds + decay_seconds * static_cast<double>(request.alpha.size());
  cost.memory_bytes = 1e6;
  return cost;
}

}  // namespace

VerbOf<Thresholds> Thresholds::verb() {
  Definition<Thresholds, SettledThresholds> d;
  d.family = "aim";
  d.name = "thresholds";
  d.summary = "when a full-width attention matrix starts to be learned, and is known exactly";
  d.details = prose(R"(
      Sharp thresholds of the attention-indexed model in the sample ratio alpha = n/d^2
      (samples over dimension squared); with `rho = 0`, the limit of small widths, alpha =
      n/(d r). See aim curve for the model. A threshold that does not exist has no row.
      With `alpha`, also the smallest weight decay that leaves nothing in training (see
      aim erm). The tolerance is for alpha, and relative to it above 1.)");
  d.fields = limit_fields<Thresholds>();
  d.fields.edit("beta").text =
      "Inverse temperature of softmax labels; only decay_max depends on it.";
  d.fields
      .add(
          "alpha", &Thresholds::alpha,
          {.min = 0.0, .max = max_alpha, .open_min = true, .grid = true},
          "Sample ratios n/d^2 (samples over dimension squared) at which the smallest weight decay "
          "that leaves S = 0 is given.")
      .add_word(
          "loss", &Thresholds::loss,
          std::vector{TrainingLoss::square, TrainingLoss::fields, TrainingLoss::cross_entropy},
          "Loss of that training, as in aim erm.");
  d.rows = {{"", threshold_columns().list()}};
  d.primary = "alpha";
  d.usual_tolerance = "1e-9, or 5e-3 where the channel is sampled (hardmax from three tokens on),";
  d.method = 5;
  d.examples = {"aim thresholds --channel softmax --tokens 2 --rho 0.5",
                "aim thresholds --channel hardmax --tokens 2 --rho 0",
                "aim thresholds --noise-variance 0.25 --alpha 0.1,0.3",
                "aim thresholds --channel linear --tokens 3 --rho 0.1 --format json"};
  d.settle = settle_thresholds;
  d.cost = thresholds_cost;
  d.run = run_thresholds;
  return d.verb();
}

}  // namespace onset::aim
