#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi.hpp"
#include "onset/smi/limits/staircase.hpp"
#include "smi/limits/typed/label_rule.hpp"
#include "smi/limits/typed/leaps.hpp"
#include "smi/limits/typed/typed_staircase.hpp"
#include "smi/verbs/model_fields.hpp"

namespace onset::smi {
namespace {

/// Tolerances without --tol, and the number of inner nodes that a threshold starts from.
constexpr double cheap_tolerance = 7e-4;
constexpr double costly_tolerance = 5e-3;
constexpr double typed_tolerance = 1e-3;
constexpr double drawn_tolerance = 2e-3;
constexpr double root_nodes = 256;
/// Outer points that a threshold of a costly model starts from.
constexpr std::size_t costly_points = 512;
/// With so many layers or more a device begins with more points and inner nodes than a processor
/// can afford: a few nodes carry the weight of these posteriors.
constexpr std::size_t deep_blocks = 5;

void begin_finely(StaircaseOptions& options) {
  options.node_factor = 16;
  options.max_nodes = 1 << 18;
  options.max_trace_nodes = 1 << 17;
  options.root_points = 2048;
  options.slope_points = 512;
  options.trace_points = 512;
}

struct SettledThresholds {
  NamedModel named;
  StaircaseOptions options;
  /// Instead of both, where the link was typed.
  std::shared_ptr<const TypedLink> typed = {};
  TypedStaircaseOptions typed_options = {};
};

SettledThresholds settle_typed(Thresholds& request, std::shared_ptr<const TypedLink> link) {
  SettledThresholds settled;
  stay_on_processor(request.device);
  settled.typed = std::move(link);
  if (!request.tol) {
    request.tol = has_label_integral(*settled.typed) ? typed_tolerance : drawn_tolerance;
  }
  settled.typed_options.tolerance = *request.tol;
  settled.typed_options.max_stages = static_cast<std::size_t>(request.stages.value_or(0));
  settled.typed_options.seed = request.seed;
  return settled;
}

SettledThresholds settle_thresholds(Thresholds& request) {
  if (const auto typed = typed_request(request)) return settle_typed(request, typed->link);
  NamedModel named = settle_model(request);
  named.move_to(request.device);
  if (!request.tol) request.tol = named.is_cheap() ? cheap_tolerance : costly_tolerance;
  StaircaseOptions options;
  options.tolerance = *request.tol;
  options.first_tolerance = std::min(options.first_tolerance, options.tolerance);
  // The rule of deeper untied models is dear.
  const bool deep_untied = request.weights == Weights::untied && request.layers > 1;
  if (deep_untied) options.first_tolerance = options.tolerance;
  options.max_points = named.affordable_points(root_nodes);
  if (!named.is_cheap()) options.root_points = costly_points;
  const bool deep = named.model->shape().blocks() >= deep_blocks;
  if (deep && named.device == device::DeviceKind::gpu) begin_finely(options);
  options.max_stages = static_cast<std::size_t>(request.stages.value_or(0));
  options.seed = request.seed;
  return {std::move(named), std::move(options)};
}

constexpr const char* leap_meaning =
    "degree of the label's information that shows them (smi exponent); empty where none was found";

struct ThresholdRow {
  std::int64_t stage = 0;
  std::string layers;
  std::string kind;
  std::optional<Estimate> alpha = {};
  std::optional<Estimate> jump = {};
  std::optional<std::int64_t> leap = {};
};

Columns<ThresholdRow> threshold_columns() {
  return Columns<ThresholdRow>()
      .add("stage", &ThresholdRow::stage, "step of the staircase, from 1")
      .add("layers", &ThresholdRow::layers,
           "layers (or blocks of a link) that become learnable there; all: exact recovery")
      .add("kind", &ThresholdRow::kind, prose(R"(
          trivial: learned from the first samples on, or at once given the stage before; weak:
          learned better than chance from here on; hard: not learned from small overlaps at any
          alpha; perfect: exact recovery becomes the optimum (counting); algorithmic: state
          evolution reaches it from small overlaps, where that differs)"))
      .add("alpha", &ThresholdRow::alpha, alpha_meaning)
      .add("jump", &ThresholdRow::jump, "overlap just above the threshold; 0 when continuous")
      .add("leap", &ThresholdRow::leap, leap_meaning);
}

/// `hard_leap`: that of hard blocks, where it is known.
std::vector<ThresholdRow> rows_of(const Staircase& stairs, std::optional<int> hard_leap) {
  constexpr Estimate whole{1.0, 0.0};
  std::vector<ThresholdRow> rows;
  const auto add = [&rows](ThresholdRow row) {
    row.stage = static_cast<std::int64_t>(rows.size()) + 1;
    rows.push_back(std::move(row));
  };
  for (const StaircaseStep& step : stairs.steps) {
    add({.layers = names(step.blocks),
         .kind = step.trivial ? "trivial" : "weak",
         .alpha = step.alpha,
         .jump = step.jump,
         .leap = step.trivial ? 1 : 2});
    if (step.given.empty()) continue;
    add({.layers = names(step.given),
         .kind = "trivial",
         .alpha = step.alpha,
         .jump = Estimate{},
         .leap = 1});
  }
  if (stairs.unfollowed) {
    const UnfollowedStage& last = *stairs.unfollowed;
    add({.layers = names(last.blocks),
         .kind = last.trivial ? "trivial" : "weak",
         .alpha = last.alpha,
         .leap = last.trivial ? 1 : 2});
    return rows;
  }
  for (const std::size_t block : stairs.hard) {
    add({.layers = names({block}), .kind = "hard", .leap = hard_leap});
  }
  if (!stairs.perfect) return rows;
  add({.layers = "all", .kind = "perfect", .alpha = Estimate{*stairs.perfect}, .jump = whole});
  if (stairs.hard_phase) {
    add({.layers = "all", .kind = "algorithmic", .alpha = stairs.algorithmic, .jump = whole});
  }
  return rows;
}

/// Of a fold that was not found: four decimals, rounded up.
std::string below(double alpha) {
  return fmt::format("not resolved, below {:.4f}", std::ceil(1e4 * alpha) / 1e4);
}

struct TypedRow {
  std::int64_t stage = 0;
  std::string directions;
  std::string kind;
  std::optional<Estimate> alpha = {};
  std::optional<Estimate> jump = {};
  std::optional<Estimate> gain = {};
  std::optional<std::int64_t> leap = {};
};

Columns<TypedRow> typed_columns() {
  return Columns<TypedRow>()
      .add("stage", &TypedRow::stage, "step of the staircase, from 1")
      .add("directions", &TypedRow::directions,
           "an orthonormal basis of the directions that the row speaks of")
      .add("kind", &TypedRow::kind, prose(R"(
          trivial: learned from the first samples on, or at once given the stage before; weak:
          learned better than chance from here on; hard: not learned from small overlaps at any
          alpha; perfect: exact recovery becomes the optimum (counting); algorithmic: state
          evolution from small overlaps jumps there, to exact recovery where the column jump is 1 and that
          is later than counting says; irrelevant: the label does not depend on them; unresolved:
          the errors do not say which)"))
      .add("alpha", &TypedRow::alpha, alpha_meaning)
      .add("jump", &TypedRow::jump, prose(R"(
          mean overlap of the directions just above alpha; 0 where it grows from 0 on; empty where
          errors do not say)"))
      .add("gain", &TypedRow::gain,
           "largest slope of an overlap at alpha = 0, of what is learned from the first samples on")
      .add("leap", &TypedRow::leap, leap_meaning);
}

TypedRow row_of(const TypedStage& stage, std::size_t before) {
  return {.stage = static_cast<std::int64_t>(before) + 1,
          .directions = direction_names(stage.directions),
          .kind = std::string(to_string(stage.kind)),
          .alpha = stage.alpha,
          .jump = stage.jump,
          .gain = stage.gain,
          .leap = stage.leap};
}

/// Whether small overlaps miss what is possible: a claim only where a jump or a hard direction was
/// found. A fold may always be smaller than errors show, so that its absence is a bound.
std::string typed_hard_phase(const TypedStaircase& stairs) {
  bool unresolved = false;
  for (const TypedStage& stage : stairs.stages) {
    const bool jumps = stage.kind == TypedKind::weak && stage.jump &&
                       stage.jump->value > 3.0 * stage.jump->error && stage.jump->value > 0.0;
    if (stage.kind == TypedKind::hard || stage.kind == TypedKind::algorithmic || jumps)
      return "yes";
    unresolved = unresolved || stage.kind == TypedKind::unresolved;
  }
  if (unresolved) return "unresolved";
  if (!(stairs.recovered_below > 0.0)) return "no jump found";
  return below(stairs.recovered_below);
}

void run_typed(const Thresholds& request, const SettledThresholds& settled, const Context& context,
               Result& result) {
  const auto columns = typed_columns();
  result.table = columns.table();
  note_what_is_not_named(*settled.typed, result);
  const TypedStaircase stairs =
      typed_staircase(*settled.typed, settled.typed_options, context, [&](const TypedStage& stage) {
        result.table.add_row(columns.cells(row_of(stage, result.table.rows().size())));
      });
  if (!request.stages) result.summary.emplace_back("hard_phase", typed_hard_phase(stairs));
  std::string reason = stairs.doubt;
  if (!stairs.met_tolerance) {
    if (!reason.empty()) reason += "; ";
    reason += "a threshold misses the asked tolerance " + to_text(Value(*request.tol));
  }
  if (!reason.empty()) result.unconverged(reason);
}

/// The largest growth factor across two layers, if any was computed.
std::optional<Estimate> max_cross_growth(const Staircase& stairs) {
  std::optional<Estimate> largest;
  const auto take = [&largest](const std::optional<Estimate>& growth) {
    if (growth && (!largest || std::abs(growth->value) > std::abs(largest->value))) {
      largest = growth;
    }
  };
  for (const StaircaseStep& step : stairs.steps) take(step.cross_growth);
  if (stairs.unfollowed) take(stairs.unfollowed->cross_growth);
  return largest;
}

/// The leap of a link of which nothing is learned.
std::optional<int> hard_leap(const Thresholds& request, const Staircase& stairs,
                             const Context& context) {
  const std::string expression = link_expression(request.link);
  if (stairs.hard.empty() || !stairs.steps.empty() || expression.empty()) return std::nullopt;
  const TypedLink link(expression, 0.0);
  const auto steps = leaps(link, {.seed = request.seed}, context);
  return steps.front().leap.verdict == Verdict::present ? steps.front().leap.degree : std::nullopt;
}

/// Whether small overlaps miss what is possible. A fold may always be smaller than errors show, so
/// that its absence is a bound.
std::string hard_phase(const Staircase& stairs) {
  const bool jumps = std::any_of(stairs.steps.begin(), stairs.steps.end(),
                                 [](const StaircaseStep& step) { return step.jump.value > 0.0; });
  if (stairs.hard_phase || !stairs.hard.empty() || jumps) return "yes";
  if (!stairs.perfect) return "no jump found";
  return below(stairs.algorithmic_below);
}

void run_thresholds(const Thresholds& request, const SettledThresholds& settled,
                    const Context& context, Result& result) {
  if (settled.typed) {
    run_typed(request, settled, context, result);
    return;
  }
  const auto columns = threshold_columns();
  result.table = columns.table();
  // What a run that ends early can still say.
  const auto found = [&](const std::vector<std::size_t>& blocks, const Estimate& alpha) {
    result.table.add_row(
        columns.cells({.stage = static_cast<std::int64_t>(result.table.rows().size()) + 1,
                       .layers = names(blocks),
                       .kind = alpha.value > 0.0 ? "weak" : "trivial",
                       .alpha = alpha,
                       .leap = alpha.value > 0.0 ? 2 : 1}));
  };
  const Staircase stairs = staircase(*settled.named.model, settled.options, context, found);
  result.table = columns.table(rows_of(stairs, hard_leap(request, stairs, context)));
  if (stairs.unfollowed) {
    result.notes.push_back(
        "Ended at stage " + std::to_string(*request.stages) +
        " (`stages`): later ones, hard layers and exact recovery were not looked for.");
  } else if (stairs.perfect && stairs.hard.empty()) {
    result.summary.emplace_back("contraction_alpha", stairs.contraction);
    result.notes.push_back(prose(R"(
        contraction_alpha is where exact recovery starts to attract state evolution, measured at
        the deepest fixed point; counting says {}.)",
                                 to_text(Value(*stairs.perfect))));
  }
  if (const auto cross = max_cross_growth(stairs)) {
    result.summary.emplace_back("cross_growth", *cross);
    result.notes.push_back(prose(R"(
        cross_growth is the largest growth factor of an overlap across two layers at a
        threshold; below 1 in size the stages decouple.)"));
  }
  if (!stairs.unfollowed) result.summary.emplace_back("hard_phase", hard_phase(stairs));
  const bool untied = request.weights == Weights::untied;
  if (untied) {
    result.notes.push_back(std::string(untied_note) +
                           " Their small overlaps grow together, so that they share a threshold.");
  }
  for (const StaircaseStep& step : stairs.steps) {
    if (step.blocks.size() > 1 && !step.trivial && !untied) {
      result.notes.push_back("Layers " + names(step.blocks) +
                             " are in one row because their growth rates agree within errors.");
    }
  }
  std::string reason;
  if (!stairs.met_tolerance) {
    reason = "a threshold misses the asked tolerance " + to_text(Value(*request.tol));
  }
  if (!stairs.sound) {
    if (!reason.empty()) reason += "; ";
    reason += prose(R"(
        some fixed points could not be computed accurately: take later thresholds,
        contraction_alpha and the kind algorithmic with care)");
  }
  if (!reason.empty()) result.unconverged(reason);
}

Cost typed_cost(const SettledThresholds& settled) {
  Cost cost;
  cost.method = prose(R"(
      Posteriors by integrals over the level sets of the link, on lines along randomly rotated
      axes. First threshold: growth map E T (x) T at overlap 0 as an integral over the label, or
      with three fields and more as a sum over bins of the label, by samples of all fields.
      Later ones: alpha nu = 1 on the branch of fixed points of the directions learned before, by
      quasi-Monte Carlo. Errors: scatter of replicates, 16 of them for bins and eight otherwise, and
      what the rule over labels changed in its last step, or what bins may lose. Exact recovery by counting equations; jumps where alpha falls along
      the branch.)");
  cost.core_seconds = typed_staircase_seconds(*settled.typed, settled.typed_options);
  cost.memory_bytes = typed_bytes(*settled.typed);
  return cost;
}

/// Core seconds of the first threshold. Two tokens have a rule over the label's plane, whose inner
/// lattice is doubled until the threshold is known to 1e-5: once for two layers, up to the largest
/// one from four on. Links and one layer take none to speak of.
double first_seconds(const Thresholds& request, const NamedModel& named) {
  constexpr double first_points = 1024.0;
  if (request.link != "none" || request.layers == 1) return 0.0;
  if (request.weights == Weights::untied) {
    // Labels of the rule in polar coordinates, each with a lattice of 2048 nodes or a few more.
    constexpr double polar_labels = numerics::default_replicates * 61.0 * 105.0;
    return polar_labels * 3e3 * 1e-9 * (3.0 + 3.0 * request.layers);
  }
  const FieldShape& shape = named.model->shape();
  const bool ruled = shape.tokens == 2 && request.noise == 0.0 &&
                     request.token_correlation == "none" && shape.directions() == shape.blocks();
  if (!ruled) return named.channel_seconds(1.0, first_points, root_nodes);
  constexpr double lattices[] = {2048.0, 30720.0, 129024.0};  // summed over the doublings
  constexpr double labels = numerics::default_replicates * 50.0 * 19.0;
  const double per_node = 3.5e-9 + 1.2e-9 * request.layers;  // measured
  return labels * per_node * lattices[std::min(request.layers, 4) - 2];
}

Cost thresholds_cost(const Thresholds& request, const SettledThresholds& settled) {
  if (settled.typed) return typed_cost(settled);
  const NamedModel& named = settled.named;
  const StaircaseOptions& options = settled.options;
  Cost cost;
  cost.method = prose(R"(
      First threshold: growth rate F_l = E||E[z_l z_l^T|y] - I||^2 at overlap 0, for two tokens
      by a trapezoid rule over the label's plane and shifted lattices for the inner fields, else
      by quasi-Monte Carlo. Later ones: alpha F_l = 1 solved together with the fixed point of
      state evolution of the layers learned before. Errors: scatter of 16 replicates and a bound
      on the bias of the inner integrals.)");
  // Points grow like the inverse square of the tolerance, inner nodes like its inverse, up to the
  // most that a run may use; a tolerance beyond that ends as unconverged.
  // Queries and keys of their own are learned in one stage.
  const bool together = request.weights == Weights::untied;
  const double blocks =
      together ? request.layers : static_cast<double>(named.model->shape().blocks());
  const double natural = named.is_cheap() ? 1e-3 : 5e-3;  // error at 2048 points
  const auto most = static_cast<double>(options.max_points);
  const double reachable = natural * std::sqrt(2048.0 / most);
  const double ratio = natural / std::clamp(options.tolerance, reachable, natural);
  const double points = std::min(most, 2048.0 * ratio * ratio);
  if (options.tolerance < reachable) cost.caution = out_of_reach(options.tolerance, reachable);
  // From five layers on the posterior needs more inner nodes, whatever the tolerance.
  const double deep = (blocks > 4.0 ? 4.0 : 1.0) * options.node_factor;
  const auto start = static_cast<double>(options.root_points);
  const auto traced = static_cast<double>(options.trace_points);
  // The branch of every stage but the last of --stages is followed, to a later threshold or to
  // exact recovery.
  const double branches = request.stages ? std::min(blocks, *request.stages - 1.0) : blocks;
  const double later = std::min(branches, blocks - 1.0);
  cost.core_seconds = 0.05 + first_seconds(request, named) +
                      named.channel_seconds(20.0 * branches * (1.0 + blocks), traced, 128 * deep) +
                      named.channel_seconds(5.0 * later, start, 2.0 * root_nodes * ratio * deep) +
                      named.channel_seconds(3.0 * later, points, root_nodes * ratio);
  // Beyond these a posterior has fewer sets of nodes instead of more memory.
  constexpr double most_nodes = 16384.0;
  cost.memory_bytes = named.memory(
      std::min({most * root_nodes / start, 4.0 * root_nodes * ratio * deep, most_nodes}));
  return cost;
}

}  // namespace

VerbOf<Thresholds> Thresholds::verb() {
  Definition<Thresholds, SettledThresholds> d;
  d.family = "smi";
  d.name = "thresholds";
  d.summary = "when each layer of deep attention, or direction of a link, starts to be learned";
  d.details = prose(R"(
      Gives the sharp thresholds in the sample ratio alpha = N/D (samples over dimension, both
      large) of the Bayes-optimal setting, for deep attention or for a link:
      which layer can be learned better than chance, given those learned before it, and from
      where on the weights are recovered exactly. The first threshold of two uncorrelated tokens
      without noise is computed to 1e-5, the others to the tolerance; rows `algorithmic` of typed
      links with two fields and more to 20 times as much, and later thresholds of three fields and
      more to 5 times as much.)");
  d.fields = model_fields<Thresholds>();
  d.fields.add("stages", &Thresholds::stages, {.min = 1, .max = max_layers}, prose(R"(
      Ends after this many stages: the first thresholds of a deep model take a fraction of the
      time. The last stage then has no jump, and exact recovery is not looked for. All stages
      unless given.)"));
  add_device(d.fields);
  d.rows = {{"", threshold_columns().list()}, {"with a typed link", typed_columns().list()}};
  d.primary = "alpha";
  d.usual_tolerance = prose(R"(
      7e-4, 5e-3 beyond two layers of two tokens, and 1e-3 to 2e-3 for typed links, where it is
      relative above alpha = 1,)");
  d.usual_tolerance =
      "7e-4 for two layers of two tokens and for named links, 1e-3 for typed ones (2e-3 for "
      "several outputs that have a density), 5e-3 for larger "
      "models";
  d.method = 15;
  d.examples = {"smi thresholds --layers 2 --tokens 2 --skip 1",
                "smi thresholds --layers 3 --skip 1,0.5", "smi thresholds --link square",
                "smi thresholds --link 'sign(z1)*z2'",
                "smi thresholds --layers 1 --tokens 4 --format json"};
  d.settle = settle_thresholds;
  d.cost = thresholds_cost;
  d.run = run_thresholds;
  return d.verb();
}

}  // namespace onset::smi
