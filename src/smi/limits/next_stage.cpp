// The later stages of a staircase: the branch of the learned blocks, and the first threshold on it.

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "onset/core/error.hpp"
#include "smi/limits/inner_nodes.hpp"
#include "smi/limits/staircase_builder.hpp"
#include "smi/limits/threshold_refinement.hpp"

namespace onset::smi::stairs {
namespace {

/// Log precision of every block at the deep end of the last branch: V ~ 1e-6. A branch along which
/// another block may yet grow is followed further, to V ~ 1e-12: at large skips the last layer has
/// to be known that well before the others can be seen. So is one without exact recovery, as far as
/// it is asked for.
constexpr double deep = 14.0;
constexpr double deepest_search = 28.0;

/// Change of log alpha between the two deepest fixed points that says that a branch has ended.
constexpr double settled = 0.05;

/// Blocks whose growth rates agree start to be learned together only if the rates are known to
/// this. One that is known less well and does start there is found on the branch that follows.
constexpr double tie_resolution = 0.02;

/// A fold of log alpha below this cannot be told from the slope's own noise near its end.
constexpr double min_fold = 0.01;

}  // namespace

std::vector<FixedPointNode> Builder::traced(const StageStart& start) {
  std::vector<Channel> channels;
  const int first = options_.node_factor * first_nodes(gain_nodes, blocks_);
  for (int nodes = first; nodes <= options_.max_trace_nodes; nodes *= 4) {
    channels.emplace_back(model_, channel_options(trace_points_, nodes));
  }
  const Channel slopes(model_,
                       channel_options(std::min(trace_points_, options_.slope_points), first));
  const double learned = static_cast<double>(std::count(learned_.begin(), learned_.end(), true));
  const bool to_the_end = result_.perfect.has_value() && all_learned();
  const double end = mean_position(start) + (to_the_end ? deep : deepest_search) * learned;
  const auto sound = [](const FixedPointNode& node) { return node.status.converged(); };
  const auto enough = [&](const std::vector<FixedPointNode>& nodes) {
    if (nodes.back().position >= end) return true;
    const auto usable = std::count_if(nodes.begin(), nodes.end(), sound);
    if (static_cast<std::size_t>(usable) <= min_nodes || to_the_end) return false;
    const auto last = std::find_if(nodes.rbegin(), nodes.rend(), sound);
    if (all_learned()) {
      return std::exp(numerics::mean(last->log_alpha)) > 1.1 * options_.alpha_end;
    }
    const FixedPointNode& before = *std::find_if(std::next(last), nodes.rend(), sound);
    return growing(before).has_value() || is_above(before, options_.alpha_stop);
  };
  auto nodes = trace_branch({channels, slopes, learned_, start, options_.trace_spacing, max_nodes},
                            enough, context_);
  if (std::erase_if(nodes, std::not_fn(sound)) > 0) result_.sound = false;
  if (nodes.size() < min_nodes) {
    throw Refused(
        "the fixed points of this model cannot be computed accurately enough: the inner "
        "integrals of its posterior need more nodes than there are");
  }
  return nodes;
}

std::optional<std::size_t> Builder::growing(const FixedPointNode& node) const {
  std::optional<std::size_t> fastest;
  double most = 0.0;
  for (std::size_t b = 0; b < blocks_; ++b) {
    if (!is_open(b)) continue;
    const double rate = numerics::mean(node.log_growth(b));
    if (rate > most) {
      most = rate;
      fastest = b;
    }
  }
  return fastest;
}

std::optional<NextStage> Builder::next_stage(const StageStart& start,
                                             const std::vector<FixedPointNode>& nodes) {
  const auto first = std::find_if(nodes.begin(), nodes.end(),
                                  [&](const auto& node) { return growing(node).has_value(); });
  if (first == nodes.end()) return stage_after_recovery(nodes);
  // Between the node before and this one, by linear interpolation of log(alpha F).
  std::size_t block = *growing(*first);
  double earliest = 1.0;
  if (first != nodes.begin()) {
    for (std::size_t b = 0; b < blocks_; ++b) {
      if (!is_open(b)) continue;
      const double before = numerics::mean(std::prev(first)->log_growth(b));
      const double after = numerics::mean(first->log_growth(b));
      if (!(after > 0.0)) continue;
      const double at = -before / (after - before);
      if (at < earliest) {
        earliest = at;
        block = b;
      }
    }
  }
  std::vector<double> guess(blocks_);
  for (std::size_t b = 0; b < blocks_; ++b) {
    const double after = numerics::mean(first->log_precision[b]);
    const double before =
        first == nodes.begin() ? after : numerics::mean(std::prev(first)->log_precision[b]);
    guess[b] = before + earliest * (after - before);
  }
  return refined(start, block, std::move(guess), nodes);
}

std::optional<NextStage> Builder::stage_after_recovery(const std::vector<FixedPointNode>& nodes) {
  const FixedPointNode& deepest = nodes.back();
  const std::optional<std::size_t> fastest = fastest_open(deepest.growth);
  const double settling =
      numerics::mean(deepest.log_alpha) - numerics::mean(shallower(nodes).log_alpha);
  if (!fastest || std::abs(settling) > settled) return {};
  NextStage next;
  next.blocks = as_fast(deepest.growth, *fastest);
  next.start.log_alpha =
      numerics::map(deepest.growth[*fastest], [](double f) { return -std::log(f); });
  // V is not yet 0: what is left of it is a bias, as large as the last steps towards it.
  const double before = numerics::mean(shallower(nodes).growth[*fastest]);
  next.start.relative_bias = deepest.growth_bias[*fastest] +
                             std::abs(before / numerics::mean(deepest.growth[*fastest]) - 1.0);
  next.start.log_precision = deepest.log_precision;
  next.start.log_precision_scale = first_log_precision_scale;
  for (std::size_t b = 0; b < blocks_; ++b) {
    if (learned_[b]) recovered_[b] = true;
    learned_[b] = false;
  }
  return next;
}

NextStage Builder::refined(const StageStart& start, std::size_t block, std::vector<double> guess,
                           const std::vector<FixedPointNode>& nodes) {
  const RefinedThreshold refined =
      refine_threshold(model_, options_, learned_, block, std::move(guess), context_);
  if (!refined.met_tolerance) result_.met_tolerance = false;
  if (!refined.node.status.converged()) result_.sound = false;
  return stage_from(start, refined.node, block, nodes);
}

NextStage Builder::stage_from(const StageStart& start, const FixedPointNode& node,
                              std::size_t block, const std::vector<FixedPointNode>& nodes) {
  NextStage next;
  next.start.log_alpha = node.log_alpha;
  next.start.log_precision = node.log_precision;
  next.start.relative_bias = node.relative_bias;
  next.start.log_precision_scale = later_log_precision_scale;
  for (std::size_t b = 0; b < blocks_; ++b) {
    if (!is_open(b)) continue;
    const Estimate rate = numerics::reduce(node.log_growth(b), node.growth_bias[b]);
    const bool tied = rate.error < tie_resolution && rate.value > -significance * rate.error &&
                      is_positive(node.growth[b]);
    if (b == block || tied) next.blocks.push_back(b);
  }
  if (!node.cross_growth.empty()) next.cross_growth = numerics::reduce(node.cross_growth);
  require_rise(start, nodes, next.start);
  return next;
}

void Builder::require_rise(const StageStart& start, const std::vector<FixedPointNode>& nodes,
                           const StageStart& next) {
  if (start.from_nothing) return;
  for (const auto& node : nodes) {
    if (node.position >= mean_position(next)) break;
    Replicates excess = node.log_alpha;
    for (std::size_t r = 0; r < excess.size(); ++r) excess[r] -= next.log_alpha[r];
    const Estimate e = numerics::reduce(excess, node.relative_bias + next.relative_bias);
    if (e.value > std::max(min_fold, significance * e.error)) result_.sound = false;
  }
}

}  // namespace onset::smi::stairs
