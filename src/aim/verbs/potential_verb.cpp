#include <algorithm>
#include <string>
#include <vector>

#include "aim/limits/curve.hpp"
#include "aim/verbs/model_fields.hpp"
#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "numerics/parallel.hpp"
#include "onset/aim.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {
namespace {

struct EntropyRow {
  double alpha = 0.0;
  double q = 0.0;
  double mmse = 0.0;
  Estimate free_entropy;
  Estimate slope;
  std::string maximum;
};

Columns<EntropyRow> entropy_columns() {
  return Columns<EntropyRow>()
      .add("alpha", &EntropyRow::alpha, alpha_meaning)
      .add("q", &EntropyRow::q, "overlap Tr(S S_hat)/d with the truth")
      .add("mmse", &EntropyRow::mmse, "error ||S - S_hat||_F^2/d of such an estimate")
      .add("free_entropy", &EntropyRow::free_entropy,
           "free entropy over d^2 (over d r with `rho = 0`), counted from nothing known", "nat")
      .add("slope", &EntropyRow::slope, "its derivative with respect to q; 0 at a fixed point")
      .add("maximum", &EntropyRow::maximum,
           "global, local (a maximum among its neighbours in the table), or no");
}

struct SettledEntropy {
  AttentionIndexed model;
  InformationPlan plan;
};

SettledEntropy settle_entropy(Potential& request) {
  const AttentionIndexed model = settle_model(request);
  refuse_beta_of_hardmax(model);
  if (model.is_deep()) {
    throw Refused(prose(R"(
        the free entropy of several layers behind one label depends on an overlap of each; aim
        curve has its value at the fixed point; possible here: `labels = separate`)"));
  }
  InformationPlan plan = model.channel->information_plan(model);
  if (!request.tol) request.tol = plan.tolerance;
  return {model, std::move(plan)};
}

/// Says of every row whether it is a maximum; `unbounded`: perfect recovery lies above them all.
void mark_maxima(std::vector<EntropyRow>& rows, bool unbounded) {
  const auto value = [&](std::size_t i) { return rows[i].free_entropy.value; };
  std::size_t best = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (value(i) > value(best)) best = i;
    const bool above_last = i == 0 || value(i) > value(i - 1);
    const bool above_next = i + 1 == rows.size() ? !unbounded : value(i) > value(i + 1);
    rows[i].maximum = above_last && above_next ? "local" : "no";
  }
  if (!unbounded) rows[best].maximum = "global";
}

void run_entropy(const Potential& request, const SettledEntropy& settled, const Context& context,
                 Result& result) {
  const auto columns = entropy_columns();
  result.table = columns.table();
  const StateEvolution evolution(settled.model, request.seed, context);
  const double perfect = evolution.perfect_recovery();
  const double known = evolution.known();
  const double unknown = evolution.second_moment() - known;
  const auto count = static_cast<std::size_t>(request.points);
  double worst = 0.0;
  for (const double alpha : request.alpha) {
    std::vector<EntropyRow> rows(count);
    numerics::parallel_for(context, count, [&](std::size_t i) {
      const double share = static_cast<double>(i) / static_cast<double>(count);
      const PotentialPoint p = evolution.potential(alpha, known + share * unknown);
      rows[i] = {alpha, p.overlap, p.mmse, p.free_entropy, p.slope, {}};
    });
    mark_maxima(rows, alpha >= perfect);
    for (const EntropyRow& row : rows) {
      worst = std::max(worst, row.free_entropy.error);
      result.table.add_row(columns.cells(row));
    }
    if (alpha >= perfect) {
      result.notes.push_back(prose(R"(
          alpha = {} is at or above perfect recovery ({}): the free entropy grows without bound
          towards q = {}, which is the global maximum.)",
                                   to_text(Value(alpha)), to_text(Value(perfect)),
                                   to_text(Value(evolution.second_moment()))));
    }
  }
  if (worst > *request.tol) {
    result.unconverged("the asked tolerance " + to_text(Value(*request.tol)) + " was not reached" +
                       (settled.plan.method.empty() ? "" : ": " + settled.plan.method));
  }
}

Cost entropy_cost(const Potential& request, const SettledEntropy& settled) {
  constexpr double point_seconds = 1.2e-3;  // a root of the spectrum's error, two integrals
  Cost cost;
  cost.method = prose(R"(
      The prior's part from the logarithmic energy of the spectrum of S plus Gaussian noise
      (double-exponential quadrature), at the noise that belongs to an overlap (one bracketed
      root); the labels' part is an integral of what one label tells over the logarithm of the
      error.)");
  if (!settled.plan.method.empty()) cost.method += " " + settled.plan.method;
  cost.core_seconds = point_seconds * static_cast<double>(request.alpha.size()) * request.points +
                      settled.plan.core_seconds;
  cost.memory_bytes = 1e6;
  return cost;
}

}  // namespace

VerbOf<Potential> Potential::verb() {
  Definition<Potential, SettledEntropy> d;
  d.family = "aim";
  d.name = "potential";
  d.summary = "the free entropy of a full-width attention matrix against the overlap";
  d.details = prose(R"(
      Gives the free entropy at sample ratio alpha = n/d^2 (samples over dimension squared; n/(d
      r) with `rho = 0`) against the overlap q, from what is known without data to everything.
      Its maximum is the fixed point of aim curve; one maximum means that there is no hard phase.
      The precision that belongs to an overlap is taken at its stationary value, so that slope is
      the whole derivative. The tolerance is for free_entropy.)");
  d.fields = limit_fields<Potential>();
  d.fields
      .add("alpha", &Potential::alpha,
           {.min = 0.0, .max = max_alpha, .required = true, .grid = true},
           "Sample ratios n/d^2 (samples over dimension squared); n/(d r) with `rho = 0`.")
      .add("points", &Potential::points, {.min = 2, .max = 10000}, "Overlaps, evenly spaced.");
  d.rows = {{"", entropy_columns().list()}};
  d.primary = "free_entropy";
  d.usual_tolerance = "1e-9, or 5e-3 where the channel is sampled (hardmax from three tokens on),";
  d.examples = {"aim potential --alpha 0.1",
                "aim potential --channel hardmax --rho 0.2 --alpha 0.2,0.5 --points 51"};
  d.settle = settle_entropy;
  d.cost = entropy_cost;
  d.run = run_entropy;
  return d.verb();
}

}  // namespace onset::aim
