#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "onset/core/error.hpp"
#include "onset/core/outcome.hpp"
#include "onset/smi/limits/staircase.hpp"
#include "smi/verbs/model_options.hpp"
#include "smi/verbs/smi_verbs.hpp"

namespace onset::smi {
namespace {

/// Tolerances without --tol, and the number of inner nodes that a threshold starts from.
constexpr double cheap_tolerance = 7e-4;
constexpr double costly_tolerance = 5e-3;
constexpr double root_nodes = 256;
/// Outer points that a threshold of a costly model starts from.
constexpr std::size_t costly_points = 512;

StaircaseOptions staircase_options(const NamedModel& named, const Parameters& p) {
  StaircaseOptions options;
  options.tolerance = p.real("tol");
  options.first_tolerance = std::min(options.first_tolerance, options.tolerance);
  options.max_points = named.affordable_points(root_nodes);
  if (!named.is_cheap()) options.root_points = costly_points;
  options.seed = static_cast<std::uint64_t>(p.integer("seed"));
  return options;
}

std::vector<Column> threshold_columns() {
  return {
      {"stage", "step of the staircase, from 1", "", false},
      {"layers", "layers (or blocks of a link) that become learnable there; all: exact recovery",
       "", false},
      {"kind",
       "trivial: learned from the first samples on, or at once given the stage before; weak: "
       "better than chance from here on; hard: at no alpha, from small overlaps; perfect: exact "
       "recovery becomes the optimum (counting); algorithmic: state evolution from small "
       "overlaps reaches it, where that differs",
       "", false},
      {"alpha", alpha_meaning, "", true},
      {"jump", "overlap just above the threshold; 0 when continuous", "", true}};
}

Staircase compute(const NamedModel& named, const StaircaseOptions& options, const Context& context,
                  const ThresholdFound& found) {
  return named.attention ? staircase(*named.attention, options, context, found)
                         : staircase(*named.model, options, context, found);
}

void add_rows(const Staircase& stairs, Table& table) {
  std::int64_t stage = 0;
  const auto add = [&](const std::string& layers, const char* kind, Cell alpha, Cell jump) {
    table.add_row({++stage, layers, std::string(kind), std::move(alpha), std::move(jump)});
  };
  for (const StaircaseStep& step : stairs.steps) {
    add(names(step.blocks), step.trivial ? "trivial" : "weak", step.alpha, step.jump);
    if (!step.given.empty()) add(names(step.given), "trivial", step.alpha, Estimate{});
  }
  for (const std::size_t block : stairs.hard) add(names({block}), "hard", {}, {});
  if (!stairs.perfect) return;
  add("all", "perfect", Estimate{*stairs.perfect, 0.0}, Estimate{1.0, 0.0});
  if (stairs.hard_phase) add("all", "algorithmic", stairs.algorithmic, Estimate{1.0, 0.0});
}

/// The largest growth factor across two layers, if any was computed.
std::optional<Estimate> largest_cross_growth(const Staircase& stairs) {
  std::optional<Estimate> largest;
  for (const StaircaseStep& step : stairs.steps) {
    if (!step.cross_growth) continue;
    if (!largest || std::abs(step.cross_growth->value) > std::abs(largest->value)) {
      largest = step.cross_growth;
    }
  }
  return largest;
}

Result run_thresholds(const Parameters& p, const Context& context) {
  const NamedModel named = read_model(p);
  Result result;
  result.table = Table(threshold_columns());
  // What a run that ends early can still say.
  const auto found = [&](const std::vector<std::size_t>& blocks, const Estimate& alpha) {
    const auto stage = static_cast<std::int64_t>(result.table.rows().size()) + 1;
    const char* kind = alpha.value > 0.0 ? "weak" : "trivial";
    result.table.add_row({stage, names(blocks), std::string(kind), alpha, {}});
  };
  Staircase stairs;
  keep_rows(result, [&] { stairs = compute(named, staircase_options(named, p), context, found); });
  if (result.status != ResultStatus::ok) return result;
  result.table = Table(threshold_columns());
  add_rows(stairs, result.table);
  if (stairs.perfect && stairs.hard.empty()) {
    result.summary.emplace_back("contraction_alpha", stairs.contraction);
    result.notes.push_back(
        "contraction_alpha is where exact recovery starts to attract state evolution, measured at "
        "the deepest fixed point; counting says " +
        to_text(Value(*stairs.perfect)) + ".");
  }
  if (const auto cross = largest_cross_growth(stairs)) {
    result.summary.emplace_back("cross_growth", *cross);
    result.notes.push_back(
        "cross_growth is the largest growth factor of an overlap across two layers at a threshold; "
        "below 1 in size the stages decouple.");
  }
  result.summary.emplace_back("hard_phase", stairs.hard_phase || !stairs.hard.empty());
  for (const StaircaseStep& step : stairs.steps) {
    if (step.blocks.size() > 1 && !step.trivial) {
      result.notes.push_back("Layers " + names(step.blocks) +
                             " are in one row because their growth rates agree within errors.");
    }
  }
  if (!stairs.met_tolerance) {
    result.reason = "a threshold misses the asked tolerance " + to_text(Value(p.real("tol")));
  }
  if (!stairs.sound) {
    if (!result.reason.empty()) result.reason += "; ";
    result.reason +=
        "some fixed points could not be computed accurately: take later thresholds, "
        "contraction_alpha and the kind algorithmic with care";
  }
  if (!result.reason.empty()) result.status = ResultStatus::unconverged;
  return result;
}

Cost thresholds_cost(const Parameters& p) {
  const NamedModel named = read_model(p);
  const StaircaseOptions options = staircase_options(named, p);
  Cost cost;
  cost.method =
      "First threshold: growth rate F_l = E||E[z_l z_l^T|y] - I||^2 at overlap 0, for two tokens "
      "by "
      "a trapezoid rule over the label's plane and shifted lattices for the inner fields, else by "
      "quasi-Monte Carlo. Later ones: alpha F_l = 1 solved together with the fixed point of state "
      "evolution of the layers learned before. Errors: scatter of 16 replicates and a bound on the "
      "bias of the inner integrals.";
  // Points grow like the inverse square of the tolerance, inner nodes like its inverse, up to the
  // most that a run may use; a tolerance beyond that ends as unconverged.
  const double blocks = static_cast<double>(named.model->shape().blocks());
  const double natural = named.is_cheap() ? 1e-3 : 5e-3;  // error at 2048 points
  const auto most = static_cast<double>(options.max_points);
  const double reachable = natural * std::sqrt(2048.0 / most);
  const double ratio = natural / std::clamp(options.tolerance, reachable, natural);
  const double points = std::min(most, 2048.0 * ratio * ratio);
  if (options.tolerance < reachable) cost.caution = out_of_reach(options.tolerance, reachable);
  // From five layers on the posterior needs more inner nodes, whatever the tolerance.
  const double deep = blocks > 4.0 ? 4.0 : 1.0;
  const double start = named.is_cheap() ? 2048.0 : static_cast<double>(costly_points);
  cost.core_seconds =
      0.1 + named.channel_seconds(20.0 * blocks * (1.0 + blocks), 256, 128 * deep) +
      named.channel_seconds(5.0 * (blocks - 1.0), start, 2.0 * root_nodes * ratio * deep) +
      named.channel_seconds(3.0 * (blocks - 1.0), points, root_nodes * ratio);
  cost.memory_bytes =
      named.memory(std::min(most * root_nodes / start, 4.0 * root_nodes * ratio * deep));
  return cost;
}

}  // namespace

Verb thresholds_verb() {
  Verb verb;
  verb.family = "smi";
  verb.name = "thresholds";
  verb.summary = "when each layer of deep attention, or direction of a link, starts to be learned";
  verb.details =
      "Sharp thresholds in the sample ratio alpha = N/D (samples over dimension, both large), "
      "Bayes-optimal setting, for deep attention with tied weights or a named link: which layer "
      "can "
      "be learned better than chance, given what is learned before it, and from where the weights "
      "are recovered exactly. The first threshold of two uncorrelated tokens without noise is "
      "computed to 1e-5, other ones to the tolerance: 7e-4 by default for two layers of two tokens "
      "and for links, 5e-3 for "
      "larger models.";
  verb.parameters = model_parameters();
  verb.read_files = read_correlation_file;
  verb.columns = threshold_columns();
  verb.primary = "alpha";
  verb.default_tol = cheap_tolerance;
  verb.tol_for = [](const Parameters& p) {
    return read_model(p).is_cheap() ? cheap_tolerance : costly_tolerance;
  };
  verb.method = 3;
  verb.examples = {"smi thresholds --layers 2 --tokens 2 --skip 1",
                   "smi thresholds --layers 3 --skip 1,0.5", "smi thresholds --link square",
                   "smi thresholds --layers 1 --tokens 4 --format json"};
  verb.cost = thresholds_cost;
  verb.run = run_thresholds;
  return verb;
}

}  // namespace onset::smi
