#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/core/error.hpp"
#include "onset/smi.hpp"
#include "smi/limits/curve.hpp"
#include "smi/limits/typed/typed_curve.hpp"
#include "smi/limits/typed/typed_staircase.hpp"
#include "smi/verbs/model_fields.hpp"
#include "smi/verbs/overlap_columns.hpp"

namespace onset::smi {
namespace {

/// Tolerances without --tol, and the inner nodes of the fixed points.
constexpr double cheap_tolerance = 1e-2;
constexpr double costly_tolerance = 5e-2;
constexpr double curve_nodes = 128;

/// What both kinds of rows have.
struct CurveRow {
  double alpha = 0.0;
  std::string branch;
  std::vector<Estimate> overlaps;
  std::optional<Estimate> error_plugin;
  std::optional<Estimate> error_bayes;
  std::optional<Estimate> free_entropy;
  int iterations = 0;
  double residual = 0.0;
  bool converged = false;
};

Columns<CurveRow> curve_columns(const std::vector<Column>& overlaps) {
  const char* norm = "squared Frobenius norm";
  return Columns<CurveRow>()
      .add("alpha", &CurveRow::alpha, alpha_meaning)
      .add("branch", &CurveRow::branch, "which fixed point: uninformed, informed or optimal")
      .add_each(overlaps, &CurveRow::overlaps)
      .add("error_plugin", &CurveRow::error_plugin,
           "test error of the label, without noise, at the estimated weights", norm)
      .add("error_bayes", &CurveRow::error_bayes,
           "least possible test error of labels without noise", norm)
      .add("free_entropy", &CurveRow::free_entropy, prose(R"(
          free entropy per dimension, density with respect to h, or to the label of a link; empty
          at exact recovery, where it is infinite)"),
           "nat")
      .add("iterations", &CurveRow::iterations,
           "steps of plain state evolution that checked the point")
      .add("residual", &CurveRow::residual, "how far they moved V")
      .add("converged", &CurveRow::converged,
           "whether that is within errors, and the point is stable");
}

/// A residual is an order of magnitude: more digits would only be noise.
double two_digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", x);
  return std::strtod(text, nullptr);
}

CurveRow row_of(const FieldShape& shape, const CurvePoint& p, BranchChoice choice) {
  CurveRow row{.alpha = p.alpha,
               .branch = std::string(to_string(choice)),
               .overlaps = overlap_entries(shape, p.overlap),
               .error_plugin = p.error_plugin,
               .error_bayes = p.error_bayes,
               .free_entropy = p.free_entropy,
               .iterations = p.status.iterations,
               .residual = two_digits(p.status.residual),
               .converged = p.status.converged()};
  if (!std::isfinite(p.free_entropy.value)) row.free_entropy.reset();
  return row;
}

/// Layers as people count them, from 0 on.
std::vector<std::size_t> unlearned_blocks(const Curve& request, std::size_t blocks) {
  std::vector<std::size_t> list;
  for (const int layer : request.unlearned) {
    if (layer > static_cast<int>(blocks)) {
      throw InvalidArgument("unlearned", std::to_string(layer) + " is not a layer; allowed: 1 to " +
                                             std::to_string(blocks));
    }
    list.push_back(static_cast<std::size_t>(layer) - 1);
  }
  return list;
}

std::vector<double> held_overlaps(const Curve& request, std::size_t blocks) {
  const auto layer = static_cast<std::size_t>(request.hold_layer);
  if (layer == 0) {
    if (request.hold_overlap == 0.0) return {};
    throw InvalidArgument("hold_overlap",
                          "has no effect without a layer; allowed: with `hold_layer`");
  }
  if (layer > blocks) {
    throw InvalidArgument("hold_layer", std::to_string(layer) + " is not a layer; allowed: 1 to " +
                                            std::to_string(blocks) + ", or 0 for none");
  }
  std::vector<double> held(blocks, -1.0);
  held[layer - 1] = request.hold_overlap;
  return held;
}

struct SettledCurve {
  NamedModel named;
  CurveOptions options;
  /// Instead of both, where the link was typed.
  std::shared_ptr<const TypedLink> typed = {};
  TypedCurveOptions typed_options = {};
};

/// The upper triangle of the overlap matrix of the directions of a typed link.
std::vector<Column> typed_overlap_columns(std::size_t directions) {
  std::vector<Column> columns;
  for (std::size_t p = 1; p <= directions; ++p) {
    for (std::size_t q = p; q <= directions; ++q) {
      const std::string pair = std::to_string(p) + std::to_string(q);
      columns.push_back(
          {"Q" + pair,
           p == q ? "overlap of direction " + std::to_string(p)
                  : "overlap of directions " + std::to_string(p) + " and " + std::to_string(q),
           ""});
    }
  }
  return columns;
}

SettledCurve settle_typed(Curve& request, std::shared_ptr<const TypedLink> link) {
  const auto refuse = [](const char* field) {
    throw InvalidArgument(field, prose(R"(
        speaks of layers and has no meaning with a typed link; allowed: leaving it out)"));
  };
  if (!request.unlearned.empty()) refuse("unlearned");
  if (request.hold_layer != 0) refuse("hold_layer");
  if (request.hold_overlap != 0.0) refuse("hold_overlap");
  if (!request.tol) request.tol = link->fields().size() <= 2 ? cheap_tolerance : costly_tolerance;
  SettledCurve settled;
  stay_on_processor(request.device);
  settled.typed = std::move(link);
  settled.typed_options.choice = request.branch;
  settled.typed_options.tolerance = *request.tol;
  settled.typed_options.seed = request.seed;
  return settled;
}

CurveRow row_of(const TypedCurvePoint& p, BranchChoice choice) {
  return {.alpha = p.alpha,
          .branch = std::string(to_string(choice)),
          .overlaps = p.overlap,
          .error_plugin = p.error_plugin,
          .error_bayes = p.error_bayes,
          .free_entropy = p.free_entropy,
          .iterations = p.iterations,
          .residual = two_digits(p.residual),
          .converged = p.doubt.empty()};
}

void run_typed(const Curve& request, const SettledCurve& settled, const Context& context,
               Result& result) {
  const auto columns = curve_columns(typed_overlap_columns(settled.typed->directions()));
  result.table = columns.table();
  note_what_is_not_named(*settled.typed, result);
  std::string reason;
  const auto give = [&reason](const std::string& why) {
    if (why.empty() || reason.find(why) != std::string::npos) return;
    reason += (reason.empty() ? "" : "; ") + why;
  };
  bool errors_missing = false;
  const auto add = [&](const TypedCurvePoint& point) {
    result.table.add_row(columns.cells(row_of(point, request.branch)));
    errors_missing = errors_missing || !point.error_plugin || !point.error_bayes;
    if (!point.doubt.empty()) give("alpha = " + to_text(Value(point.alpha)) + ": " + point.doubt);
  };
  const TypedCurve curve =
      typed_curve(*settled.typed, request.alpha, settled.typed_options, context, add);
  give(curve.doubt);
  if (!curve.met_tolerance) {
    give("the asked tolerance " + to_text(Value(*request.tol)) + " was not reached");
  }
  if (errors_missing) {
    result.notes.push_back(prose(R"(
        Test errors that are infinite, or not resolved because of rare large labels, are left
        empty.)"));
  }
  if (!reason.empty()) result.unconverged(reason);
}

Cost typed_cost(const Curve& request, const SettledCurve& settled) {
  Cost cost;
  cost.method = prose(R"(
      State evolution with the full overlap matrix over the directions that the staircase of smi
      thresholds says are learned: iterated with few points until it comes to rest, then solved by
      Newton's method, each replicate from its own residual. Directions that counting says are
      recovered exactly, and which go there, are known exactly. Posteriors by integrals over the
      level sets of the link; test errors by quasi-Monte Carlo.)");
  cost.core_seconds =
      typed_curve_seconds(*settled.typed, request.alpha.size(), settled.typed_options);
  cost.memory_bytes = typed_bytes(*settled.typed);
  return cost;
}

SettledCurve settle_curve(Curve& request) {
  if (const auto typed = typed_request(request)) return settle_typed(request, typed->link);
  NamedModel named = settle_model(request);
  named.move_to(request.device);
  if (!request.tol) request.tol = named.is_cheap() ? cheap_tolerance : costly_tolerance;
  const std::size_t blocks = named.model->shape().blocks();
  CurveOptions options;
  options.choice = request.branch;
  options.tolerance = *request.tol;
  options.max_points = named.affordable_points(curve_nodes);
  options.unlearned = unlearned_blocks(request, blocks);
  options.held = held_overlaps(request, blocks);
  options.seed = request.seed;
  return {std::move(named), std::move(options)};
}

void run_curve(const Curve& request, const SettledCurve& settled, const Context& context,
               Result& result) {
  if (settled.typed) {
    run_typed(request, settled, context, result);
    return;
  }
  const NamedModel& named = settled.named;
  const CurveOptions& options = settled.options;
  const FieldShape& shape = named.model->shape();
  const auto columns = curve_columns(overlap_columns(shape));
  result.table = columns.table();
  bool all_converged = true;
  const auto add = [&](const CurvePoint& point) {
    result.table.add_row(columns.cells(row_of(shape, point, request.branch)));
    all_converged = all_converged && point.status.converged();
  };
  if (request.weights == Weights::untied) result.notes.emplace_back(untied_note);
  const BayesCurve curve = bayes_curve(*named.model, request.alpha, options, context, add);
  if (!all_converged) {
    result.unconverged("some rows did not converge");
  } else if (!curve.met_tolerance) {
    result.unconverged("the asked tolerance " + to_text(Value(options.tolerance)) +
                       " was not reached, or a fixed point near exact recovery was not found");
  }
}

Cost curve_cost(const Curve& request, const SettledCurve& settled) {
  if (settled.typed) return typed_cost(request, settled);
  const NamedModel& named = settled.named;
  const double tol = *request.tol;
  Cost cost;
  cost.method = prose(R"(
      The fixed points of state evolution form one curve; it is traced once (about 70
      evaluations of the channel) and every alpha is read off it, each replicate on its own
      curve. One more evaluation per alpha checks the point, and quasi-Monte Carlo gives both
      test errors.)");
  // From small overlaps only stages below the largest alpha are followed: the first one alone where
  // that is below what a later stage takes, a part of what perfect recovery takes.
  const auto& ratios = request.alpha;
  const double shallow = 0.6 * static_cast<double>(named.model->shape().directions()) /
                         std::max(1.0, named.model->constraints());
  const bool one_stage = request.branch == BranchChoice::uninformed &&
                         named.model->constraints() > 0.0 &&
                         *std::max_element(ratios.begin(), ratios.end()) < shallow;
  const double blocks = one_stage ? 1.0 : static_cast<double>(named.model->shape().blocks());
  const double points = std::min(static_cast<double>(named.affordable_points(curve_nodes)),
                                 1024 * std::max(1.0, std::pow(1e-2 / tol, 1.0 / 0.6)));
  const double reachable =
      1e-2 * std::pow(1024.0 / static_cast<double>(named.affordable_points(curve_nodes)), 0.6);
  if (tol < reachable && !named.model->posterior({32, 1})->exact())
    cost.caution = out_of_reach(tol, reachable);
  const double alphas = static_cast<double>(request.alpha.size());
  const double tokens = named.model->shape().tokens;
  // From four layers on the posterior needs more inner nodes.
  const double nodes = curve_nodes * std::pow(4.0, std::clamp(blocks - 3.0, 0.0, 2.0));
  // Test errors of an alpha, measured: those of attention take longer.
  const double errors = request.link == "none" ? 0.2 + 0.012 * tokens * tokens : 0.03;
  // With noise the branch ends below exact recovery: measured.
  const double followed = request.noise > 0.0 ? 10.0 : 20.0;
  cost.core_seconds = 0.1 + errors * alphas +
                      named.channel_seconds(followed * blocks * blocks + alphas, points, nodes) +
                      named.channel_seconds(4.0 * (blocks - 1.0), points, 2.0 * curve_nodes);
  cost.memory_bytes = named.memory(4.0 * nodes);
  return cost;
}

}  // namespace

VerbOf<Curve> Curve::verb() {
  Definition<Curve, SettledCurve> d;
  d.family = "smi";
  d.name = "curve";
  d.summary = "overlaps and test errors of deep attention or a link against the sample ratio";
  d.details = prose(R"(
      State evolution of the Bayes-optimal setting gives, for every sample ratio alpha = N/D
      (samples over dimension), the overlap of each layer with the truth, the test errors of the
      plug-in and of the Bayes-optimal predictor, and the free entropy. The uninformed branch is
      what approximate message passing reaches; the optimal one is the fixed point of largest
      free entropy. The tolerance is for Q11; the overlap of the last layer is held to three
      tenths of it.)");
  d.fields = model_fields<Curve>();
  d.fields.add("alpha", &Curve::alpha, alpha_rule, alpha_text)
      .add_word("branch", &Curve::branch,
                {BranchChoice::uninformed, BranchChoice::informed, BranchChoice::optimal},
                "Which fixed point is meant where there are several.")
      .add("unlearned", &Curve::unlearned, {.min = 1, .max = max_layers}, prose(R"(
          Layers whose overlaps are set to 0 in the errors, which shows what the other layers
          are worth alone.)"))
      .add("hold-layer", &Curve::hold_layer, {.min = 0, .max = max_layers},
           "A layer that is held at `hold_overlap` instead of being learned; 0 holds none.")
      .add("hold-overlap", &Curve::hold_overlap, {.min = 0.0, .max = 0.999999},
           "The overlap at which that layer is held.");
  add_device(d.fields);
  d.rows = {{"", curve_columns(overlap_columns({2, {1, 1}})).list()},
            {"with a typed `link`", curve_columns(typed_overlap_columns(2)).list()}};
  d.primary = "Q11";
  d.usual_tolerance = "1e-2, or 5e-2 beyond two layers of two tokens,";
  d.method = 13;
  d.examples = {"smi curve --layers 2 --tokens 2 --skip 1 --alpha 0.1:1.2:0.1",
                "smi curve --layers 1 --tokens 3 --alpha log:0.05:1:20 --format csv",
                "smi curve --link square --alpha 0.4:1.2:0.1 --branch optimal",
                "smi curve --link 'sign(z1)*z2' --alpha 0.3:0.9:0.3"};
  d.settle = settle_curve;
  d.cost = curve_cost;
  d.run = run_curve;
  return d.verb();
}

}  // namespace onset::smi
