#include <algorithm>
#include <cmath>
#include <string>

#include "aim/limits/curve.hpp"
#include "aim/limits/label_error.hpp"
#include "aim/limits/two_layer_curve.hpp"
#include "aim/verbs/model_fields.hpp"
#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/aim.hpp"

namespace onset::aim {
namespace {

struct CurveRow {
  double alpha = 0.0;
  Estimate q;
  std::optional<Estimate> qhat;
  Estimate mmse;
  std::optional<Estimate> test = {};
  std::optional<Estimate> test_plug_in = {};
  std::optional<Estimate> free_entropy = {};
  bool converged = false;
};

Columns<CurveRow> curve_columns() {
  return Columns<CurveRow>()
      .add("alpha", &CurveRow::alpha, alpha_meaning)
      .add("q", &CurveRow::q, "overlap Tr(S S_hat)/d with the truth")
      .add("qhat", &CurveRow::qhat, prose(R"(
          precision of the matrix as the labels show it, 1/Delta; over rho with `rho = 0`; empty
          at perfect recovery, where it is infinite)"),
           "precision")
      .add("mmse", &CurveRow::mmse, "least possible ||S - S_hat||_F^2/d; 1 without data")
      .add("test", &CurveRow::test, prose(R"(
          least possible error on the label of a new sample: squared, summed over its entries;
          with hardmax the share of rows whose choice is wrong; empty for one label of several
          layers, for published forms, for a softmax with noise of kind equal, and for one so
          steep that it is a hardmax nearly everywhere)"))
      .add("test_plug_in", &CurveRow::test_plug_in,
           "the same for the label that the estimated matrix makes")
      .add("free_entropy", &CurveRow::free_entropy, prose(R"(
          free entropy over d^2 (over d r with `rho = 0`), counted from nothing known; empty at
          perfect recovery, where it is infinite, and for published forms)"),
           "nat")
      .add("converged", &CurveRow::converged, "whether the fixed point was found to rounding");
}

CurveRow row_of(const CurvePoint& p, const LabelErrors& labels) {
  CurveRow row{.alpha = p.alpha,
               .q = p.overlap,
               .qhat = p.conjugate,
               .mmse = p.mmse,
               .free_entropy = p.free_entropy,
               .converged = p.status.converged()};
  if (!std::isfinite(p.conjugate.value)) row.qhat.reset();
  if (const auto error = labels.at(p.overlap, p.mmse)) {
    row.test = error->bayes;
    row.test_plug_in = error->plug_in;
  }
  return row;
}

/// One layer of a network at one alpha.
struct LayerRow {
  double alpha = 0.0;
  int layer = 1;
  Estimate q;
  std::optional<Estimate> qhat = {};
  Estimate mmse;
  std::optional<Estimate> free_entropy = {};
  bool converged = false;
};

Columns<LayerRow> layer_columns() {
  return Columns<LayerRow>()
      .add("alpha", &LayerRow::alpha, data_alpha_meaning)
      .add("layer", &LayerRow::layer, "from 1; the last one makes the label")
      .add("q", &LayerRow::q, "overlap Tr(S S_hat)/d of the layer's matrix with the truth")
      .add("qhat", &LayerRow::qhat,
           "precision of that matrix as the labels show it; empty at perfect recovery", "precision")
      .add("mmse", &LayerRow::mmse, "least possible ||S - S_hat||_F^2/d; 1 without data")
      .add("free_entropy", &LayerRow::free_entropy, prose(R"(
          free entropy of all layers over d^2, counted from nothing known; empty at perfect
          recovery)"),
           "nat")
      .add("converged", &LayerRow::converged, "whether the fixed point was found");
}

/// The rows of one alpha; returns the largest error.
double add_layers_at(const TwoLayerPoint& point, const Columns<LayerRow>& columns, Result& result) {
  double max_error = 0.0;
  for (std::size_t l = 0; l < point.mmse.size(); ++l) {
    const Estimate& mmse = point.mmse[l];
    LayerRow row{.alpha = point.alpha,
                 .layer = static_cast<int>(l) + 1,
                 .q = {1.0 - mmse.value, mmse.error},
                 .mmse = mmse,
                 .free_entropy = point.free_entropy,
                 .converged = point.found()};
    if (std::isfinite(point.conjugate[l].value)) row.qhat = point.conjugate[l];
    result.table.add_row(columns.cells(row));
    max_error = std::max(max_error, mmse.error);
  }
  return max_error;
}

struct SettledCurve {
  AttentionIndexed model;
  InformationPlan plan;
};

SettledCurve settle_curve(Curve& request) {
  const AttentionIndexed model = settle_model(request);
  refuse_beta_of_hardmax(model);
  InformationPlan plan =
      model.is_deep() ? two_layer_plan() : model.channel->information_plan(model);
  if (!request.tol) request.tol = plan.tolerance;
  return {model, std::move(plan)};
}

/// How the rows ended as a whole.
void conclude(bool converged, double max_error, const Curve& request, const SettledCurve& settled,
              Result& result) {
  if (!converged) {
    result.unconverged("some rows did not converge");
  } else if (max_error > *request.tol) {
    result.unconverged("the asked tolerance " + to_text(Value(*request.tol)) + " was not reached" +
                       (settled.plan.method.empty() ? "" : ": " + settled.plan.method));
  }
}

/// Layers behind one label, which have rows of their own.
void run_layers(const Curve& request, const SettledCurve& settled, const Context& context,
                Result& result) {
  const auto columns = layer_columns();
  result.table = columns.table();
  bool converged = true;
  double max_error = 0.0;
  for (const TwoLayerPoint& point :
       two_layer_curve(settled.model, request.alpha, request.seed, context)) {
    max_error = std::max(max_error, add_layers_at(point, columns, result));
    converged = converged && point.found();
    if (!point.hard) continue;
    result.notes.push_back(prose(R"(
        alpha = {}: state evolution that starts from nothing known ends at a larger error, so that
        message passing does too; the row has the least possible error.)",
                                 to_text(Value(point.alpha))));
  }
  conclude(converged, max_error, request, settled, result);
}

/// Noise of one size on all scores leaves no formula for the error on labels of a softmax.
void say_no_test(const AttentionIndexed& model, Result& result) {
  if (model.channel != &softmax_channel() || model.noise_variance == 0.0 ||
      model.noise_kind != NoiseKind::equal) {
    return;
  }
  result.notes.emplace_back(
      "test is empty: noise of the same variance on every score makes the directions of a softmax "
      "label unequal; `noise_kind = scaled` has it.");
}

void run_curve(const Curve& request, const SettledCurve& settled, const Context& context,
               Result& result) {
  if (settled.model.is_deep()) return run_layers(request, settled, context, result);
  const auto columns = curve_columns();
  const LabelErrors labels(settled.model, request.seed);
  result.table = columns.table();
  bool converged = true;
  double max_error = 0.0;
  for (const CurvePoint& point : bayes_curve(settled.model, request.alpha, request.seed, context)) {
    result.table.add_row(columns.cells(row_of(point, labels)));
    converged = converged && point.status.converged();
    max_error = std::max(max_error, point.mmse.error);
  }
  say_no_test(settled.model, result);
  conclude(converged, max_error, request, settled, result);
}

Cost curve_cost(const Curve& request, const SettledCurve& settled) {
  Cost cost;
  cost.memory_bytes = 1e6;
  if (settled.model.is_deep()) {
    cost.method = settled.plan.method;
    cost.core_seconds = settled.plan.core_seconds * static_cast<double>(request.alpha.size());
    return cost;
  }
  cost.method = prose(R"(
      Fixed points of state evolution as a curve with the noise Delta = 1/qhat as its parameter:
      mmse(Delta) from the spectrum of S plus Gaussian noise (double-exponential quadrature),
      alpha(Delta) explicit; every alpha is one bracketed root.)");
  if (!settled.plan.method.empty()) cost.method += " " + settled.plan.method;
  cost.core_seconds = 2e-3 * static_cast<double>(request.alpha.size()) + settled.plan.core_seconds;
  return cost;
}

}  // namespace

VerbOf<Curve> Curve::verb() {
  Definition<Curve, SettledCurve> d;
  d.family = "aim";
  d.name = "curve";
  d.summary = "how well a full-width attention matrix can be learned, against the sample ratio";
  d.details = prose(R"(
      The attention-indexed model has n = alpha d^2 samples of T Gaussian tokens, whose labels
      are made from the scores x_a^T S x_b with S = W W^T/sqrt(r d), where W is d x r and r =
      rho d. For every sample ratio alpha = n/d^2 (with `rho = 0`, the limit of small widths,
      alpha = n/(d r)), state evolution of the Bayes-optimal setting gives the overlap q, the
      precision qhat and the least possible error mmse = ||S - S_hat||_F^2/d, which is exactly 0
      above perfect recovery, the error on the label of a new sample (that of the best
      prediction, and that of the label which the estimated matrix makes), and the free entropy,
      whose maximum the fixed point is. With `layers = 2` and `labels = deep` two Gaussian
      matrices (`prior = wigner`) stand behind one label: the first layer mixes the tokens by
      softmax + `skip`, the second makes the label of the mixed tokens, and each layer has a row.
      The tolerance is for mmse.)");
  d.fields = limit_fields<Curve>();
  add_skip(d.fields);
  d.fields.add("alpha", &Curve::alpha,
               {.min = 0.0, .max = max_alpha, .required = true, .grid = true},
               "Sample ratios n/d^2 (samples over dimension squared); n/(d r) with `rho = 0`.");
  d.rows = {{"", curve_columns().list()},
            {"with several layers behind one label", layer_columns().list()}};
  d.primary = "mmse";
  d.usual_tolerance = prose(R"(
      1e-9, or 5e-3 where the channel is sampled (hardmax from three tokens on), or 1e-3 for two
      layers behind one label,)");
  d.method = 5;
  d.examples = {"aim curve --channel softmax --tokens 2 --rho 0.5 --alpha 0.01:0.2:0.01",
                "aim curve --channel hardmax --tokens 2 --rho 0.5 --alpha log:0.01:10:40",
                "aim curve --channel linear --tokens 3 --noise 0.3 --alpha log:0.01:1:20",
                "aim curve --channel hardmax --rho 0 --alpha 0.1:2:0.1",
                "aim curve --prior wigner --layers 2 --labels deep --alpha 0.1:0.5:0.1"};
  d.settle = settle_curve;
  d.cost = curve_cost;
  d.run = run_curve;
  return d.verb();
}

}  // namespace onset::aim
