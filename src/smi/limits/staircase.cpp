#include "onset/smi/limits/staircase.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "numerics/quasi_monte_carlo.hpp"
#include "onset/core/error.hpp"
#include "smi/limits/branch_end.hpp"
#include "smi/limits/channel_at_zero.hpp"
#include "smi/limits/inner_nodes.hpp"
#include "smi/limits/threshold_refinement.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;
using Blocks = std::vector<std::size_t>;

/// Inner nodes are raised up to this along a branch where its integrals are not accurate enough.
constexpr int max_gain_nodes = 2048;

/// The number of lattice points with which the first threshold's inner fields begin.
constexpr std::size_t first_lattice = 2048;

/// The number of outer points per replicate with which the channel at overlap 0 begins.
constexpr std::size_t first_points = 1024;

/// The log precision of every block at the deep end of the last branch: V ~ 1e-6. A branch along
/// which another block may still grow is followed further, to V ~ 1e-12, since at large skips the
/// last layer has to be known that well before the others can be seen. So is a branch without exact
/// recovery, as far as it is asked for.
constexpr double deep = 14.0;
constexpr double deepest_search = 28.0;

/// The log precisions over which the start of a stage is resolved; at the first stage the overlap
/// rises faster.
constexpr double first_log_precision_scale = 0.5;
constexpr double later_log_precision_scale = 2.5;

/// A branch has ended when log alpha changes by less than this between its two deepest fixed
/// points.
constexpr double settled = 0.05;

/// The least number of fixed points with which a branch can be interpolated, and the largest number
/// that it may have.
constexpr std::size_t min_nodes = 5;
constexpr int max_nodes = 160;

/// The number of standard errors beyond which a difference counts; it is larger where many
/// differences are examined.
constexpr double significance = 3.0;
constexpr double strict_significance = 6.0;

/// Blocks whose growth rates agree start to be learned together only if the rates are known to this
/// relative accuracy. A block that is known less well and does start there is found on the branch
/// that follows.
constexpr double tie_resolution = 0.02;

/// If the measured end of the last branch differs from counting by more than this many standard
/// errors, the measurement is not to be trusted.
constexpr double recovery_significance = 4.0;

/// A fold of log alpha below this cannot be told from the slope's own noise near its end.
constexpr double min_fold = 0.01;

/// The most outer points per replicate of a branch whose maximum is wanted.
constexpr std::size_t max_trace = 4096;

bool is_positive(const Replicates& values) {
  const Estimate e = numerics::reduce(values);
  return e.value > min_rate && e.value > strict_significance * e.error;
}

/// The blocks that start to be learned, and where.
struct NextStage {
  Blocks blocks;
  bool trivial = false;
  StageStart start;
  std::optional<Estimate> cross_growth = {};
};

class Builder {
 public:
  Builder(const SequenceModel& model, const StaircaseOptions& options, const Context& context,
          const ThresholdFound& found)
      : model_(model),
        options_(options),
        context_(context),
        found_(found),
        blocks_(model.shape().blocks()),
        trace_points_(options.trace_points) {}

  Staircase build() {
    int directions = 0;
    for (const int rank : model_.shape().rank) directions += rank;
    if (model_.constraints() > 0.0 && options_.held.empty()) {
      result_.perfect = static_cast<double>(directions) / model_.constraints();
    }
    for (std::size_t b = 0; b < options_.held.size(); ++b)
      recovered_.at(b) = options_.held[b] >= 0.0;
    context_.report(0.0, "first threshold");
    std::optional<NextStage> now = first_stage();
    while (now) {
      if (found_) found_(now->blocks, threshold(*now));
      if (result_.steps.size() + 1 == options_.max_stages) {
        result_.unfollowed = {now->blocks, now->trivial, threshold(*now), now->cross_growth};
        return std::move(result_);
      }
      for (const std::size_t b : now->blocks) learned_.at(b) = true;
      now = finish_stage(std::move(*now));
      stopped_ = stopped_ || (now && is_above(now->start, options_.alpha_stop));
      if (stopped_) {
        if (result_.perfect) {
          result_.algorithmic = {std::max(*result_.perfect, options_.alpha_stop), 0.0};
        }
        return std::move(result_);
      }
    }
    for (std::size_t b = 0; b < blocks_; ++b) {
      if (is_open(b)) result_.hard.push_back(b);
    }
    if (!result_.hard.empty() && !result_.sound) {
      throw Refused(
          "no further threshold was found, but some fixed points on the way could not be "
          "computed accurately: the remaining layers may be hard or not");
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] ChannelOptions channel_options(std::size_t points, int nodes) const {
    ChannelOptions options;
    options.points = points;
    options.nodes = nodes;
    options.seed = options_.seed;
    return options;
  }

  /// Whether a block is neither learned nor recovered.
  [[nodiscard]] bool is_open(std::size_t b) const { return !learned_[b] && !recovered_[b]; }

  [[nodiscard]] bool all_learned() const {
    for (std::size_t b = 0; b < blocks_; ++b) {
      if (is_open(b)) return false;
    }
    return true;
  }

  static Estimate threshold(const NextStage& stage) {
    return stage.trivial ? Estimate{0.0, 0.0}
                         : exponential(stage.start.log_alpha, stage.start.relative_bias);
  }

  /// Whether a stage begins, or a fixed point lies, above alpha in every replicate, even after
  /// allowing for bias.
  template <class Start>
  static bool is_above(const Start& start, double alpha) {
    const double least = *std::min_element(start.log_alpha.begin(), start.log_alpha.end());
    return least - significance * start.relative_bias > std::log(alpha);
  }

  static double mean_position(const StageStart& start) {
    double sum = 0.0;
    for (const auto& log_precision : start.log_precision) sum += numerics::mean(log_precision);
    return sum;
  }

  // ---- where nothing is learned yet ------------------------------------------------------------

  [[nodiscard]] ChannelAtZero sampled_at_zero(std::size_t points) const {
    std::vector<double> variance(blocks_);
    for (std::size_t b = 0; b < blocks_; ++b) variance[b] = std::exp(-held_log_precision(b));
    return sampled_channel_at_zero(model_, channel_options(points, growth_nodes), variance,
                                   context_);
  }

  /// The channel at overlap 0 by the model's own rule, if it has one; such rules cannot hold
  /// blocks.
  [[nodiscard]] std::optional<ChannelAtZero> ruled_at_zero(std::size_t nodes) const {
    if (!options_.held.empty()) return std::nullopt;
    return model_.channel_at_zero({.nodes = nodes, .seed = options_.seed}, context_);
  }

  /// The blocks that are learned at once, or else the fastest growing ones at overlap 0 [smi 18].
  std::optional<NextStage> first_stage() {
    std::size_t nodes = first_lattice;
    std::size_t points = first_points;
    for (;;) {
      const std::optional<ChannelAtZero> ruled = ruled_at_zero(nodes);
      const ChannelAtZero channel = ruled ? *ruled : sampled_at_zero(points);
      std::optional<NextStage> stage = stage_at(channel);
      result_.log_evidence = channel.log_evidence;
      result_.log_evidence_bias = channel.log_evidence_bias;
      if (!stage || stage->trivial) return stage;
      const Estimate alpha = threshold(*stage);
      const double allowed =
          ruled ? options_.first_tolerance : std::max(options_.first_tolerance, options_.tolerance);
      const bool last = ruled ? nodes == numerics::max_lattice_size : points >= options_.max_points;
      if (alpha.error <= allowed || last) {
        // The first threshold is computed more accurately than asked where that is cheap.
        result_.met_tolerance = result_.met_tolerance && alpha.error <= options_.tolerance;
        return stage;
      }
      nodes *= 2;
      points = std::min(options_.max_points, points * 4);
    }
  }

  [[nodiscard]] double held_log_precision(std::size_t b) const {
    return options_.held.empty() ? 0.0 : std::max(0.0, options_.held[b]);
  }

  /// The open block of largest growth rate, if any grows at all.
  [[nodiscard]] std::optional<std::size_t> fastest_open(
      const std::vector<Replicates>& growth) const {
    std::optional<std::size_t> fastest;
    for (std::size_t b = 0; b < blocks_; ++b) {
      if (!is_open(b) || !is_positive(growth[b])) continue;
      if (!fastest || numerics::mean(growth[b]) > numerics::mean(growth[*fastest])) fastest = b;
    }
    return fastest;
  }

  /// The open blocks whose growth rates agree with the fastest one within errors.
  [[nodiscard]] Blocks as_fast(const std::vector<Replicates>& growth, std::size_t fastest) const {
    Blocks blocks;
    for (std::size_t b = 0; b < blocks_; ++b) {
      if (!is_open(b)) continue;
      Replicates behind = growth[fastest];
      for (std::size_t r = 0; r < behind.size(); ++r) behind[r] -= growth[b][r];
      const Estimate e = numerics::reduce(behind);
      if (e.value <= significance * e.error) blocks.push_back(b);
    }
    return blocks;
  }

  [[nodiscard]] std::optional<NextStage> stage_at(const ChannelAtZero& channel) const {
    NextStage stage;
    stage.start.log_evidence = channel.log_evidence;
    for (std::size_t b = 0; b < blocks_; ++b) {
      stage.start.log_precision.emplace_back(channel.log_evidence.size(), held_log_precision(b));
    }
    stage.start.log_precision_scale = first_log_precision_scale;
    Replicates pull(channel.log_evidence.size(), 0.0);
    for (std::size_t b = 0; b < blocks_; ++b) {
      if (!is_open(b) || !is_positive(channel.pull[b])) continue;
      stage.blocks.push_back(b);
      for (std::size_t r = 0; r < pull.size(); ++r) pull[r] += channel.pull[b][r];
    }
    if (!stage.blocks.empty()) {
      stage.trivial = stage.start.from_nothing = true;
      stage.start.log_alpha = numerics::map(pull, [](double p) { return -std::log(p); });
      return stage;
    }
    const std::optional<std::size_t> best = fastest_open(channel.growth);
    if (!best) return {};
    const std::size_t fastest = *best;
    stage.blocks = as_fast(channel.growth, fastest);
    stage.start.log_alpha =
        numerics::map(channel.growth[fastest], [](double f) { return -std::log(f); });
    stage.start.relative_bias = channel.relative_bias[fastest];
    return stage;
  }

  // ---- from one stage to the next --------------------------------------------------------------

  /// Follows the branch of the learned blocks and records the step. Returns the next stage, if
  /// there is one.
  std::optional<NextStage> finish_stage(NextStage now) {
    const double progress =
        static_cast<double>(std::count(learned_.begin(), learned_.end(), true)) /
        static_cast<double>(blocks_ + 1);
    context_.report(progress, all_learned() ? "branch to perfect recovery" : "next threshold");
    auto nodes = traced(now.start);
    const Blocks given = pulled_along(nodes);
    if (!given.empty()) {
      for (const std::size_t b : given) learned_.at(b) = true;
      nodes = traced(now.start);
    }
    std::optional<NextStage> next;
    stopped_ = !all_learned() && is_above(nodes.back(), options_.alpha_stop) &&
               std::none_of(nodes.begin(), nodes.end(),
                            [&](const auto& node) { return growing(node).has_value(); });
    if (!all_learned() && !stopped_) next = next_stage(now.start, nodes);
    if (!next && result_.perfect && all_learned()) {
      find_recovery(nodes);
      while (result_.hard_phase && result_.algorithmic.error > options_.tolerance &&
             trace_points_ < std::min(max_trace, options_.max_points)) {
        trace_points_ *= 4;
        nodes = traced(now.start);
        find_recovery(nodes);
      }
    }
    add_step(now, given, nodes);
    if (next) {
      const Branch& branch = result_.steps.back().branch;
      for (std::size_t r = 0; r < next->start.log_alpha.size(); ++r) {
        next->start.log_evidence.push_back(
            branch.at_position(r, next->start.position(r)).log_evidence);
      }
    }
    return next;
  }

  /// Blocks whose mean given the label is not 0 any more, now that others are learned.
  [[nodiscard]] Blocks pulled_along(const std::vector<FixedPointNode>& nodes) const {
    Blocks blocks;
    for (std::size_t b = 0; b < blocks_; ++b) {
      if (is_open(b) && is_positive(nodes[min_nodes - 1].pull[b])) blocks.push_back(b);
    }
    return blocks;
  }

  /// Follows the branch of fixed points until a block that is not learned grows (and one node
  /// further, so that the threshold lies inside), or to its deep end.
  std::vector<FixedPointNode> traced(const StageStart& start) {
    std::vector<Channel> channels;
    const int first = first_nodes(gain_nodes, blocks_);
    for (int nodes = first; nodes <= max_gain_nodes; nodes *= 4) {
      channels.emplace_back(model_, channel_options(trace_points_, nodes));
    }
    const Channel slopes(model_, channel_options(std::min(trace_points_, slope_points), first));
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
    auto nodes = trace_branch(
        {channels, slopes, learned_, start, options_.trace_spacing, max_nodes}, enough, context_);
    if (std::erase_if(nodes, std::not_fn(sound)) > 0) result_.sound = false;
    if (nodes.size() < min_nodes) {
      throw Refused(
          "the fixed points of this model cannot be computed accurately enough: the inner "
          "integrals of its posterior need more nodes than there are");
    }
    return nodes;
  }

  /// The fastest growing block that is not learned, if one grows.
  [[nodiscard]] std::optional<std::size_t> growing(const FixedPointNode& node) const {
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

  /// The first block that grows along the branch, and exactly where it does [smi 20].
  std::optional<NextStage> next_stage(const StageStart& start,
                                      const std::vector<FixedPointNode>& nodes) {
    const auto first = std::find_if(nodes.begin(), nodes.end(),
                                    [&](const auto& node) { return growing(node).has_value(); });
    if (first == nodes.end()) return stage_after_recovery(nodes);
    // The crossing lies between the node before and this one; linear interpolation of log(alpha F)
    // gives a first guess.
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

  /// Where no other block grows all along the branch, the learned ones end up recovered exactly,
  /// and growth rates stay what they are at its deep end: the next threshold is 1 / F there.
  std::optional<NextStage> stage_after_recovery(const std::vector<FixedPointNode>& nodes) {
    const FixedPointNode& deepest = nodes.back();
    const std::optional<std::size_t> fastest = fastest_open(deepest.growth);
    const double settling =
        numerics::mean(deepest.log_alpha) - numerics::mean(shallower(nodes).log_alpha);
    if (!fastest || std::abs(settling) > settled) return {};
    NextStage next;
    next.blocks = as_fast(deepest.growth, *fastest);
    next.start.log_alpha =
        numerics::map(deepest.growth[*fastest], [](double f) { return -std::log(f); });
    // V is not yet 0. What is left of it is a bias, about as large as the last steps towards 0.
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

  NextStage refined(const StageStart& start, std::size_t block, std::vector<double> guess,
                    const std::vector<FixedPointNode>& nodes) {
    const RefinedThreshold refined =
        refine_threshold(model_, options_, learned_, block, std::move(guess), context_);
    if (!refined.met_tolerance) result_.met_tolerance = false;
    if (!refined.node.status.converged()) result_.sound = false;
    return stage_from(start, refined.node, block, nodes);
  }

  NextStage stage_from(const StageStart& start, const FixedPointNode& node, std::size_t block,
                       const std::vector<FixedPointNode>& nodes) {
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

  /// The next threshold is the first that growing alpha meets only if alpha rises up to it [smi
  /// 20].
  void require_rise(const StageStart& start, const std::vector<FixedPointNode>& nodes,
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

  // ---- what a branch says ----------------------------------------------------------------------

  void add_step(const NextStage& step, const Blocks& given,
                const std::vector<FixedPointNode>& nodes) {
    Branch branch(model_.shape().rank, step.start, nodes);
    const bool jumps = !step.trivial && folds(step.start, nodes);
    const Estimate size = jumps ? jump(step.start, step.blocks.front(), branch) : Estimate{};
    result_.steps.push_back({step.blocks, step.trivial, given, step.start, threshold(step), size,
                             step.cross_growth, std::move(branch)});
  }

  /// Where uninformed state evolution reaches Q = I, and whether Q = I attracts above `perfect`.
  void find_recovery(const std::vector<FixedPointNode>& nodes) {
    // V is not yet 0. What is left of it is a bias, about as large as the last steps towards 0.
    const double remaining = std::abs(numerics::mean(nodes.back().log_alpha) -
                                      numerics::mean(shallower(nodes).log_alpha));
    result_.contraction =
        exponential(nodes.back().log_alpha, nodes.back().relative_bias + remaining);
    const double offset = std::abs(result_.contraction.value - *result_.perfect);
    if (offset > recovery_significance * result_.contraction.error) result_.sound = false;
    const Estimate top = max_alpha(nodes);
    result_.hard_phase = top.value - *result_.perfect > significance * top.error;
    result_.algorithmic = result_.hard_phase ? top : Estimate{*result_.perfect, 0.0};
  }

  const SequenceModel& model_;
  const StaircaseOptions& options_;
  const Context& context_;
  const ThresholdFound& found_;
  std::size_t blocks_;
  std::size_t trace_points_;
  std::vector<bool> learned_ = std::vector<bool>(blocks_, false);    // at the present stage
  std::vector<bool> recovered_ = std::vector<bool>(blocks_, false);  // exactly, at an earlier one
  bool stopped_ = false;                                             // at alpha_stop
  Staircase result_;
};

}  // namespace

void StaircaseOptions::validate() const {
  if (!(tolerance > 0.0)) throw InvalidArgument("tolerance", "allowed: a number above 0");
  if (!(first_tolerance > 0.0)) throw InvalidArgument("first_tolerance", "allowed: above 0");
  for (const double log_precision : held) {
    if (!std::isfinite(log_precision)) throw InvalidArgument("held", "allowed: finite numbers");
  }
  if (!(trace_spacing > 0.0 && trace_spacing <= 0.5)) {
    throw InvalidArgument("trace_spacing", "allowed: a number in (0, 0.5]");
  }
}

Staircase staircase(const SequenceModel& model, const StaircaseOptions& options,
                    const Context& context, const ThresholdFound& found) {
  options.validate();
  return Builder(model, options, context, found).build();
}

}  // namespace onset::smi
