#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "onset/core/error.hpp"
#include "onset/core/outcome.hpp"
#include "onset/smi/limits/curve.hpp"
#include "smi/verbs/model_options.hpp"
#include "smi/verbs/overlap_columns.hpp"
#include "smi/verbs/smi_verbs.hpp"

namespace onset::smi {
namespace {

/// Tolerances without --tol, and the inner nodes of the fixed points.
constexpr double cheap_tolerance = 1e-2;
constexpr double costly_tolerance = 5e-2;
constexpr double curve_nodes = 128;

std::vector<Column> curve_columns(const FieldShape& shape) {
  std::vector<Column> columns{
      {"alpha", alpha_meaning, "", false},
      {"branch", "which fixed point: uninformed, informed or optimal", "", false}};
  for (Column& column : overlap_columns(shape)) columns.push_back(std::move(column));
  const char* norm = "squared Frobenius norm";
  columns.push_back(
      {"error_plugin", "test error of the label at the estimated weights", norm, true});
  columns.push_back({"error_bayes", "least possible test error", norm, true});
  columns.push_back({"free_entropy",
                     "free entropy per dimension, density with respect to h; empty at exact "
                     "recovery, where it is infinite",
                     "nat", true});
  columns.push_back(
      {"iterations", "steps of plain state evolution that checked the point", "", false});
  columns.push_back({"residual", "how far they moved V", "", false});
  columns.push_back(
      {"converged", "whether that is within errors, and the point is stable", "", false});
  return columns;
}

/// A residual is an order of magnitude: more digits would only be noise.
double two_digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", x);
  return std::strtod(text, nullptr);
}

std::vector<Cell> curve_row(const FieldShape& shape, const CurvePoint& p, BranchChoice choice) {
  std::vector<Cell> row{p.alpha, std::string(to_string(choice))};
  append_overlaps(shape, p.overlap, row);
  row.emplace_back(p.error_plugin);
  row.emplace_back(p.error_bayes);
  row.push_back(std::isfinite(p.free_entropy.value) ? Cell(p.free_entropy) : Cell());
  row.emplace_back(std::int64_t{p.status.iterations});
  row.emplace_back(two_digits(p.status.residual));
  row.emplace_back(p.status.converged());
  return row;
}

/// Layers as people count them.
std::vector<std::size_t> read_unlearned(const Parameters& p, std::size_t blocks) {
  std::vector<std::size_t> list;
  if (!p.has("unlearned")) return list;
  for (const double layer : p.reals("unlearned")) {
    if (layer != std::floor(layer) || layer > static_cast<double>(blocks)) {
      throw InvalidArgument(
          "--unlearned",
          to_text(Value(layer)) + " is not a layer; allowed: 1 to " + std::to_string(blocks));
    }
    list.push_back(static_cast<std::size_t>(layer) - 1);
  }
  return list;
}

std::vector<double> read_held(const Parameters& p, std::size_t blocks) {
  const auto layer = static_cast<std::size_t>(p.integer("hold-layer"));
  if (layer == 0) {
    if (p.real("hold-overlap") == 0.0) return {};
    throw InvalidArgument("--hold-overlap",
                          "says nothing without a layer; allowed: with --hold-layer");
  }
  if (layer > blocks) {
    throw InvalidArgument("--hold-layer", std::to_string(layer) +
                                              " is not a layer; allowed: 1 to " +
                                              std::to_string(blocks) + ", or 0 for none");
  }
  std::vector<double> held(blocks, -1.0);
  held[layer - 1] = p.real("hold-overlap");
  return held;
}

CurveOptions curve_options(const NamedModel& named, const Parameters& p) {
  CurveOptions options;
  options.max_points = named.affordable_points(curve_nodes);
  options.unlearned = read_unlearned(p, named.model->shape().blocks());
  options.held = read_held(p, named.model->shape().blocks());
  const std::string& branch = p.text("branch");
  for (const auto choice : {BranchChoice::informed, BranchChoice::optimal}) {
    if (branch == to_string(choice)) options.choice = choice;
  }
  options.tolerance = p.real("tol");
  options.seed = static_cast<std::uint64_t>(p.integer("seed"));
  return options;
}

Result run_curve(const Parameters& p, const Context& context) {
  const NamedModel named = read_model(p);
  const CurveOptions options = curve_options(named, p);
  const FieldShape& shape = named.model->shape();
  Result result;
  result.table = Table(curve_columns(shape));
  bool all_converged = true;
  const auto add = [&](const CurvePoint& point) {
    result.table.add_row(curve_row(shape, point, options.choice));
    all_converged = all_converged && point.status.converged();
  };
  keep_rows(result, [&] {
    const auto& alphas = p.reals("alpha");
    const Curve curve = named.attention
                            ? bayes_curve(*named.attention, alphas, options, context, add)
                            : bayes_curve(*named.model, alphas, options, context, add);
    if (!all_converged) {
      result.reason = "some rows did not converge";
    } else if (!curve.met_tolerance) {
      result.reason = "the asked tolerance " + to_text(Value(options.tolerance)) +
                      " was not reached, or a fixed point near exact recovery was not found";
    }
    if (!result.reason.empty()) result.status = ResultStatus::unconverged;
  });
  return result;
}

Cost curve_cost(const Parameters& p) {
  const NamedModel named = read_model(p);
  const double tol = p.real("tol");
  Cost cost;
  cost.method =
      "The fixed points of state evolution form one curve; it is traced once (about 70 evaluations "
      "of the channel) and every alpha is read off it, each replicate on its own curve. One more "
      "evaluation per alpha checks the point, and quasi-Monte Carlo gives both test errors.";
  // From small overlaps only stages below the largest alpha are followed: the first one alone where
  // that is well below half of what perfect recovery takes.
  const auto& ratios = p.reals("alpha");
  const double shallow = 0.4 * static_cast<double>(named.model->shape().directions()) /
                         std::max(1.0, named.model->constraints());
  const bool one_stage = p.text("branch") == "uninformed" && named.model->constraints() > 0.0 &&
                         *std::max_element(ratios.begin(), ratios.end()) < shallow;
  const double blocks = one_stage ? 1.0 : static_cast<double>(named.model->shape().blocks());
  const double points = std::min(static_cast<double>(named.affordable_points(curve_nodes)),
                                 1024 * std::max(1.0, std::pow(1e-2 / tol, 1.0 / 0.6)));
  const double reachable =
      1e-2 * std::pow(1024.0 / static_cast<double>(named.affordable_points(curve_nodes)), 0.6);
  if (tol < reachable && !named.is_exact()) cost.caution = out_of_reach(tol, reachable);
  const double alphas = static_cast<double>(p.reals("alpha").size());
  const double tokens = named.model->shape().tokens;
  // From four layers on the posterior needs more inner nodes.
  const double nodes = curve_nodes * std::pow(4.0, std::clamp(blocks - 3.0, 0.0, 2.0));
  cost.core_seconds = 0.1 + (0.2 + 0.012 * tokens * tokens) * alphas +
                      named.channel_seconds(20.0 * blocks * blocks + alphas, points, nodes) +
                      named.channel_seconds(4.0 * (blocks - 1.0), points, 2.0 * curve_nodes);
  cost.memory_bytes = named.memory(4.0 * nodes);
  return cost;
}

}  // namespace

Verb curve_verb() {
  Verb verb;
  verb.family = "smi";
  verb.name = "curve";
  verb.summary = "overlaps and test errors of deep attention or a link against the sample ratio";
  verb.details =
      "State evolution of the Bayes-optimal setting at every sample ratio alpha = N/D (samples "
      "over "
      "dimension): the overlap of each layer with the truth, the test error of the plug-in and of "
      "the Bayes-optimal predictor, the free entropy. The uninformed branch is what approximate "
      "message passing reaches; optimal is the fixed point of largest free entropy. The tolerance "
      "is for Q11 (1e-2 by default, 5e-2 beyond two layers of two tokens); the last layer's "
      "overlap is held to three tenths of it.";
  verb.parameters = model_parameters();
  verb.read_files = read_correlation_file;
  verb.parameters.push_back(alpha_parameter());
  verb.parameters.push_back(make_word("branch", {"uninformed", "informed", "optimal"},
                                      "Which fixed point where there are several."));
  verb.parameters.push_back(make_parameter(
      "unlearned", ParameterKind::reals, {}, 1.0, max_layers,
      "Layers whose overlaps are set to 0 in the errors: what the other layers are worth alone."));
  verb.parameters.push_back(
      make_parameter("hold-layer", ParameterKind::integer, std::int64_t{0}, 0, max_layers,
                     "A layer that is held at --hold-overlap instead of being learned; 0: none."));
  verb.parameters.push_back(make_parameter("hold-overlap", ParameterKind::real, 0.0, 0.0, 0.999999,
                                           "The overlap of that layer."));
  verb.columns = curve_columns({2, {1, 1}});
  verb.primary = "Q11";
  verb.default_tol = cheap_tolerance;
  verb.tol_for = [](const Parameters& p) {
    return read_model(p).is_cheap() ? cheap_tolerance : costly_tolerance;
  };
  verb.method = 3;
  verb.examples = {"smi curve --layers 2 --tokens 2 --skip 1 --alpha 0.1:1.2:0.1",
                   "smi curve --layers 1 --tokens 3 --alpha log:0.05:1:20 --format csv",
                   "smi curve --link square --alpha 0.4:1.2:0.1 --branch optimal"};
  verb.cost = curve_cost;
  verb.run = run_curve;
  return verb;
}

}  // namespace onset::smi
