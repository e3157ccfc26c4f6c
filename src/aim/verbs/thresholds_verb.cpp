#include <algorithm>
#include <string>

#include "aim/limits/thresholds.hpp"
#include "aim/model/channel.hpp"
#include "aim/verbs/model_fields.hpp"
#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/aim.hpp"

namespace onset::aim {
namespace {

struct ThresholdRow {
  std::string kind;
  Estimate alpha;
};

Columns<ThresholdRow> threshold_columns() {
  return Columns<ThresholdRow>()
      .add("kind", &ThresholdRow::kind, prose(R"(
          weak: the estimate becomes better than none (only in the limit of small widths);
          two-bands: the spectrum that the denoiser sees splits in two (rho < 1); perfect: S is
          known exactly)"))
      .add("alpha", &ThresholdRow::alpha, alpha_meaning);
}

struct Settled {
  AttentionIndexed model;
  InformationPlan plan;
};

Settled settle_thresholds(Thresholds& request) {
  const AttentionIndexed model = settle_model(request);
  InformationPlan plan = model.channel->information_plan(model);
  if (!request.tol) request.tol = plan.tolerance;
  return {model, std::move(plan)};
}

/// Why there is no row, for people.
void add_notes(const AttentionIndexed& model, const BayesThresholds& found, Result& result) {
  if (found.sum) {
    result.notes.push_back(prose(R"(
        No perfect recovery of the layers: labels show only their sum, which is known exactly from
        alpha = {} on; 1 - 1/{} of each layer's variance is left.)",
                                 to_text(Value(found.sum->value)), model.layers));
  } else if (!found.perfect) {
    result.notes.push_back("No perfect recovery: " + model.channel->why_never_perfect(model) + ".");
  }
  if (!found.weak && model.prior == PriorKind::wishart) {
    result.notes.push_back(prose(R"(
        There is no weak threshold at rho > 0, where the first samples help already. `rho = 0`
        is the limit of small widths.)"));
  }
}

void run_thresholds(const Thresholds& request, const Settled& settled, const Context& context,
                    Result& result) {
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
  add_notes(settled.model, found, result);
}

Cost thresholds_cost(const Thresholds&, const Settled& settled) {
  Cost cost;
  cost.method = prose(R"(
      Closed forms: counting for perfect recovery, the spectrum's own boundary for two bands,
      the transition of the largest eigenvalue for weak recovery, and the information of one
      label.)");
  if (!settled.plan.method.empty()) cost.method += " " + settled.plan.method;
  cost.core_seconds = 1e-2 + settled.plan.core_seconds;
  cost.memory_bytes = 1e6;
  return cost;
}

}  // namespace

VerbOf<Thresholds> Thresholds::verb() {
  Definition<Thresholds, Settled> d;
  d.family = "aim";
  d.name = "thresholds";
  d.summary = "when a full-width attention matrix starts to be learned, and is known exactly";
  d.details = prose(R"(
      Gives the sharp thresholds of the attention-indexed model in the sample ratio alpha =
      n/d^2 (samples over dimension squared); with `rho = 0`, the limit of small widths, alpha =
      n/(d r). The model is that of aim curve. A threshold that does not exist has no row. The
      tolerance is for alpha, and relative to it above 1.)");
  d.fields = limit_fields<Thresholds>();
  d.rows = {{"", threshold_columns().list()}};
  d.primary = "alpha";
  d.usual_tolerance = "1e-9, or 5e-3 where the channel is sampled (hardmax from three tokens on),";
  d.method = 2;
  d.examples = {"aim thresholds --channel softmax --tokens 2 --rho 0.5",
                "aim thresholds --channel hardmax --tokens 2 --rho 0",
                "aim thresholds --channel linear --tokens 3 --rho 0.1 --format json"};
  d.settle = settle_thresholds;
  d.cost = thresholds_cost;
  d.run = run_thresholds;
  return d.verb();
}

}  // namespace onset::aim
