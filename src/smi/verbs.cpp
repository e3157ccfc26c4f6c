#include "onset/smi/verbs.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "onset/core/error.hpp"
#include "onset/smi/limits/curve.hpp"
#include "onset/smi/limits/staircase.hpp"

namespace onset::smi {
namespace {

constexpr const char* alpha_meaning = "sample ratio alpha = N/D (samples over dimension)";

/// Largest number of layers that the command takes; the limits for more come with their solver.
constexpr int supported_layers = 2;

/// Work of one posterior half per inner node on one core, in seconds; measured, for estimates only.
constexpr double seconds_per_node = 3e-8;

Parameter integer(std::string name, std::int64_t fallback, double min, double max,
                  std::string text) {
  Parameter p;
  p.name = std::move(name);
  p.kind = ParameterKind::integer;
  p.fallback = fallback;
  p.min = min;
  p.max = max;
  p.text = std::move(text);
  return p;
}

/// The parameters that describe the model.
std::vector<Parameter> model_parameters() {
  std::vector<Parameter> list;
  list.push_back(integer("layers", 2, 1, supported_layers, "Attention layers, each of rank one."));
  list.push_back(
      integer("tokens", 2, 2, max_tokens, "Tokens of a sample; more than 2 only with one layer."));
  Parameter skip;
  skip.name = "skip";
  skip.kind = ParameterKind::reals;
  skip.fallback = std::vector<double>{1.0};
  skip.min = 0.0;
  skip.max = max_skip;
  skip.text =
      "Strength c of the skip connection after each layer below the last: one for all, or one "
      "each.";
  list.push_back(skip);
  Parameter beta;
  beta.name = "beta";
  beta.kind = ParameterKind::real;
  beta.fallback = 1.0;
  beta.min = min_beta;
  beta.max = max_beta;
  beta.text = "Inverse temperature of every softmax.";
  list.push_back(beta);
  return list;
}

DeepAttention read_model(const Parameters& p) {
  DeepAttention model;
  model.layers = static_cast<int>(p.integer("layers"));
  model.tokens = static_cast<int>(p.integer("tokens"));
  model.skip = p.reals("skip");
  model.beta = p.real("beta");
  if (model.layers > 1 && model.tokens > 2) {
    throw InvalidArgument("--tokens", std::to_string(model.tokens) + " with " +
                                          std::to_string(model.layers) +
                                          " layers is not available; allowed: 2, or any number "
                                          "with --layers 1");
  }
  try {
    model.validate();
  } catch (const InvalidArgument& e) {
    throw InvalidArgument("--" + e.field(), std::string(e.what()).substr(e.field().size() + 2));
  }
  return model;
}

/// Core seconds of `evaluations` of the channel.
double channel_seconds(const DeepAttention& model, double evaluations, double points,
                       double nodes) {
  const double samples = evaluations * points * numerics::default_replicates;
  if (model.layers == 1) return samples * model.tokens * 1e-7;
  return samples * 2.0 * nodes * seconds_per_node;
}

// ---------------------------------------------------------------------------------------------
// thresholds

StaircaseOptions staircase_options(const Parameters& p) {
  StaircaseOptions options;
  options.tolerance = p.real("tol");
  options.first_tolerance = std::min(options.first_tolerance, options.tolerance);
  options.seed = static_cast<std::uint64_t>(p.integer("seed"));
  return options;
}

std::vector<Column> threshold_columns() {
  return {{"stage", "step of the staircase, from 1", "", false},
          {"layers", "layers that become learnable there; all: exact recovery", "", false},
          {"kind",
           "weak: better than chance from here on; perfect: exact recovery becomes the optimum "
           "(counting); algorithmic: state evolution from small overlaps reaches it, where that "
           "differs",
           "", false},
          {"alpha", alpha_meaning, "", true},
          {"jump", "overlap just above the threshold; 0 when continuous", "", true}};
}

Result run_thresholds(const Parameters& p, const Context& context) {
  const DeepAttention model = read_model(p);
  Result result;
  result.table = Table(threshold_columns());
  Table known(threshold_columns());  // what a run that ends early can still say
  const auto found = [&known](int layer, const Estimate& alpha) {
    const auto stage = static_cast<std::int64_t>(known.rows().size()) + 1;
    known.add_row({stage, std::to_string(layer + 1), std::string("weak"), alpha, {}});
  };
  Staircase stairs;
  try {
    stairs = staircase(model, staircase_options(p), context, found);
  } catch (const Interrupted&) {
    return {known, {}, ResultStatus::interrupted, "stopped on request", {}};
  } catch (const Refused& e) {
    return {known, {}, ResultStatus::refused, e.what(), {}};
  }
  std::int64_t stage = 0;
  for (const auto& step : stairs.steps) {
    result.table.add_row(
        {++stage, std::to_string(step.layer + 1), std::string("weak"), step.alpha, step.jump});
  }
  result.table.add_row({++stage, std::string("all"), std::string("perfect"),
                        Estimate{stairs.perfect, 0.0}, Estimate{1.0, 0.0}});
  if (stairs.hard_phase) {
    result.table.add_row({++stage, std::string("all"), std::string("algorithmic"),
                          stairs.algorithmic, Estimate{1.0, 0.0}});
  }
  result.summary.emplace_back("contraction_alpha", stairs.contraction);
  result.summary.emplace_back("hard_phase", stairs.hard_phase);
  result.notes.push_back(
      "contraction_alpha is where exact recovery starts to attract state evolution, measured at "
      "the deepest fixed point; counting says " +
      to_text(Value(stairs.perfect)) + ".");
  if (!stairs.met_tolerance) {
    result.reason = "a threshold misses the asked tolerance " + to_text(Value(p.real("tol")));
  } else if (!stairs.sound) {
    result.reason =
        "fixed points near exact recovery could not be computed accurately: take contraction_alpha "
        "and the kind algorithmic with care";
  }
  if (!result.reason.empty()) result.status = ResultStatus::unconverged;
  return result;
}

Cost thresholds_cost(const Parameters& p) {
  const DeepAttention model = read_model(p);
  const StaircaseOptions options = staircase_options(p);
  Cost cost;
  cost.method =
      "First threshold: growth rate F_l = E||E[z_l z_l^T|y] - I||^2 at overlap 0 by a trapezoid "
      "rule over the label's plane and shifted lattices for the inner fields. Later ones: root of "
      "alpha(s) F_l(s) = 1 along the curve of fixed points of state evolution. Errors: scatter of "
      "16 replicates and a bound on the bias of the inner integrals.";
  // Points grow like the inverse square of the tolerance, inner nodes like its inverse, up to the
  // most that a run may use; a tolerance beyond that ends as unconverged.
  const double ratio = std::clamp(1e-3 / options.tolerance, 1.0, 8.0);
  cost.core_seconds = model.layers == 1
                          ? 0.1
                          : 1.0 + channel_seconds(model, 60, 256, 128) +
                                channel_seconds(model, 5, 1024, 256) +
                                channel_seconds(model, 1.5, 2048 * ratio * ratio, 256 * ratio);
  cost.memory_bytes = 64e6;
  return cost;
}

Verb thresholds_verb() {
  Verb verb;
  verb.family = "smi";
  verb.name = "thresholds";
  verb.summary = "when each layer of deep attention starts to be learned";
  verb.details =
      "Sharp thresholds in the sample ratio alpha = N/D (samples over dimension, both large) for "
      "deep attention with tied rank-one weights, Bayes-optimal setting: which layer can be "
      "learned "
      "better than chance, given what is learned before it, and from where the weights are "
      "recovered exactly. The first threshold is computed to 1e-5, later ones to the tolerance.";
  verb.parameters = model_parameters();
  verb.columns = threshold_columns();
  verb.primary = "alpha";
  verb.default_tol = 7e-4;
  verb.examples = {"smi thresholds --layers 2 --tokens 2 --skip 1",
                   "smi thresholds --layers 1 --tokens 4 --format json"};
  verb.method = 2;
  verb.cost = thresholds_cost;
  verb.run = run_thresholds;
  return verb;
}

// ---------------------------------------------------------------------------------------------
// curve

std::vector<Column> curve_columns(int layers) {
  std::vector<Column> columns{
      {"alpha", alpha_meaning, "", false},
      {"branch", "which fixed point: uninformed, informed or optimal", "", false}};
  for (int l = 1; l <= layers; ++l) {
    const std::string n = std::to_string(l);
    columns.push_back({"Q" + n + n, "overlap of layer " + n + ": 0 nothing, 1 exact", "", true});
  }
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

std::vector<Cell> curve_row(const CurvePoint& p, BranchChoice choice) {
  std::vector<Cell> row{p.alpha, std::string(to_string(choice))};
  for (const Estimate& q : p.overlap) row.emplace_back(q);
  row.emplace_back(p.error_plugin);
  row.emplace_back(p.error_bayes);
  row.push_back(std::isfinite(p.free_entropy.value) ? Cell(p.free_entropy) : Cell());
  row.emplace_back(std::int64_t{p.status.iterations});
  row.emplace_back(two_digits(p.status.residual));
  row.emplace_back(p.status.converged());
  return row;
}

CurveOptions curve_options(const Parameters& p) {
  CurveOptions options;
  const std::string& branch = p.text("branch");
  for (const auto choice : {BranchChoice::informed, BranchChoice::optimal}) {
    if (branch == to_string(choice)) options.choice = choice;
  }
  options.tolerance = p.real("tol");
  options.seed = static_cast<std::uint64_t>(p.integer("seed"));
  return options;
}

Result run_curve(const Parameters& p, const Context& context) {
  const DeepAttention model = read_model(p);
  const CurveOptions options = curve_options(p);
  Result result;
  result.table = Table(curve_columns(model.layers));
  bool all_converged = true;
  const auto add = [&](const CurvePoint& point) {
    result.table.add_row(curve_row(point, options.choice));
    all_converged = all_converged && point.status.converged();
  };
  try {
    const Curve curve = bayes_curve(model, p.reals("alpha"), options, context, add);
    if (!all_converged) {
      result.reason = "some rows did not converge";
    } else if (!curve.met_tolerance) {
      result.reason = "the asked tolerance " + to_text(Value(options.tolerance)) +
                      " was not reached, or a fixed point near exact recovery was not found";
    }
    if (!result.reason.empty()) result.status = ResultStatus::unconverged;
  } catch (const Interrupted&) {
    result.status = ResultStatus::interrupted;
    result.reason = "stopped on request; the rows finished so far are given";
  }
  return result;
}

Cost curve_cost(const Parameters& p) {
  const DeepAttention model = read_model(p);
  const double tol = p.real("tol");
  Cost cost;
  cost.method =
      "The fixed points of state evolution form one curve; it is traced once (about 70 evaluations "
      "of the channel) and every alpha is read off it, each replicate on its own curve. One more "
      "evaluation per alpha checks the point, and quasi-Monte Carlo gives both test errors.";
  const double points = 1024 * std::max(1.0, std::pow(1e-2 / tol, 1.0 / 0.6));
  const double alphas = static_cast<double>(p.reals("alpha").size());
  cost.core_seconds = 3.0 * (model.layers > 1 ? 1.0 : 0.01) + 0.2 * alphas +
                      channel_seconds(model, 80 + alphas, points, 128) +
                      channel_seconds(model, 7, points, 256);
  cost.memory_bytes = 64e6;
  return cost;
}

Verb curve_verb() {
  Verb verb;
  verb.family = "smi";
  verb.name = "curve";
  verb.summary = "overlaps and test errors of deep attention against the sample ratio";
  verb.details =
      "State evolution of the Bayes-optimal setting at every sample ratio alpha = N/D (samples "
      "over "
      "dimension): the overlap of each layer with the truth, the test error of the plug-in and of "
      "the Bayes-optimal predictor, the free entropy. The uninformed branch is what approximate "
      "message passing reaches; optimal is the fixed point of largest free entropy. The tolerance "
      "is for Q11; the last layer's overlap is held to three tenths of it.";
  verb.parameters = model_parameters();
  Parameter alpha;
  alpha.name = "alpha";
  alpha.kind = ParameterKind::grid;
  alpha.required = true;
  alpha.min = 0.0;
  alpha.open_min = true;
  alpha.max = 1e6;
  alpha.text = "Sample ratios N/D (samples over dimension).";
  verb.parameters.push_back(alpha);
  Parameter branch;
  branch.name = "branch";
  branch.kind = ParameterKind::word;
  branch.fallback = std::string("uninformed");
  branch.words = {"uninformed", "informed", "optimal"};
  branch.text = "Which fixed point where there are several.";
  verb.parameters.push_back(branch);
  verb.columns = curve_columns(2);
  verb.primary = "Q11";
  verb.default_tol = 1e-2;
  verb.examples = {"smi curve --layers 2 --tokens 2 --skip 1 --alpha 0.1:1.2:0.1",
                   "smi curve --layers 1 --tokens 3 --alpha log:0.05:1:20 --format csv"};
  verb.method = 2;
  verb.cost = curve_cost;
  verb.run = run_curve;
  return verb;
}

}  // namespace

std::vector<Verb> verbs() {
  return {thresholds_verb(), curve_verb()};
}

}  // namespace onset::smi
