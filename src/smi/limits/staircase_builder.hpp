#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "onset/smi/limits/staircase.hpp"
#include "smi/limits/branch_end.hpp"
#include "smi/limits/channel_at_zero.hpp"

/// How a staircase is built, stage by stage: staircase.cpp has the way from one to the next,
/// first_stage.cpp the first threshold and next_stage.cpp the later ones.
namespace onset::smi::stairs {

using numerics::Replicates;
using Blocks = std::vector<std::size_t>;

/// Log precisions over which the beginning of a stage is resolved: the first one's overlap rises
/// faster.
inline constexpr double first_log_precision_scale = 0.5;
inline constexpr double later_log_precision_scale = 2.5;

/// Fixed points that a branch must have to be interpolated, and may have.
inline constexpr std::size_t min_nodes = 5;
inline constexpr int max_nodes = 160;

/// Standard errors beyond which a difference is called one; more where many are looked at.
inline constexpr double significance = 3.0;
inline constexpr double strict_significance = 6.0;

/// Whether the values are above 0, significantly and by more than rounding.
[[nodiscard]] bool is_positive(const Replicates& values);

/// The blocks that start to be learned, and where.
struct NextStage {
  Blocks blocks;
  bool trivial = false;
  StageStart start;
  std::optional<Estimate> cross_growth = {};
};

/// Builds one staircase.
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

  Staircase build();

 private:
  [[nodiscard]] ChannelOptions channel_options(std::size_t points, int nodes) const {
    ChannelOptions options;
    options.points = points;
    options.nodes = nodes;
    options.seed = options_.seed;
    return options;
  }

  /// Neither learned nor recovered.
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

  /// Whether a stage begins, or a fixed point lies, above alpha in every replicate, whatever the
  /// bias.
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

  [[nodiscard]] double held_log_precision(std::size_t b) const {
    return options_.held.empty() ? 0.0 : std::max(0.0, options_.held[b]);
  }

  // ---- where nothing is learned yet ------------------------------------------------------------

  [[nodiscard]] ChannelAtZero sampled_at_zero(std::size_t points) const;
  /// By the model's own rule, if it has one; that knows of no block that is held.
  [[nodiscard]] std::optional<ChannelAtZero> ruled_at_zero(std::size_t nodes) const;
  /// The blocks that are learned at once, or else the fastest growing ones at overlap 0 [smi 18].
  std::optional<NextStage> first_stage();
  /// The open block of largest growth rate, if any grows at all.
  [[nodiscard]] std::optional<std::size_t> fastest_open(
      const std::vector<Replicates>& growth) const;
  /// The open blocks whose growth rates agree with the fastest one within errors.
  [[nodiscard]] Blocks as_fast(const std::vector<Replicates>& growth, std::size_t fastest) const;
  [[nodiscard]] std::optional<NextStage> stage_at(const ChannelAtZero& channel) const;

  // ---- from one stage to the next --------------------------------------------------------------

  /// Follows the branch of the learned blocks and files the step; the next stage, or nothing.
  std::optional<NextStage> finish_stage(NextStage now);
  /// Blocks whose mean given the label is not 0 any more, now that others are learned.
  [[nodiscard]] Blocks pulled_along(const std::vector<FixedPointNode>& nodes) const;
  void add_step(const NextStage& step, const Blocks& given,
                const std::vector<FixedPointNode>& nodes);
  /// Where uninformed state evolution reaches Q = I, and whether Q = I attracts above `perfect`.
  void find_recovery(const std::vector<FixedPointNode>& nodes);
  /// Follows the branch of fixed points until a block that is not learned grows (and one node
  /// further, so that the threshold lies inside), or to its deep end.
  std::vector<FixedPointNode> traced(const StageStart& start);
  /// The fastest growing block that is not learned, if one grows.
  [[nodiscard]] std::optional<std::size_t> growing(const FixedPointNode& node) const;
  /// The first block that grows along the branch, where it does exactly [smi 20].
  std::optional<NextStage> next_stage(const StageStart& start,
                                      const std::vector<FixedPointNode>& nodes);
  /// Where no other block grows all along the branch, the learned ones end up recovered exactly,
  /// and growth rates stay what they are at its deep end: the next threshold is 1 / F there.
  std::optional<NextStage> stage_after_recovery(const std::vector<FixedPointNode>& nodes);
  NextStage refined(const StageStart& start, std::size_t block, std::vector<double> guess,
                    const std::vector<FixedPointNode>& nodes);
  NextStage stage_from(const StageStart& start, const FixedPointNode& node, std::size_t block,
                       const std::vector<FixedPointNode>& nodes);
  /// The next threshold is the first that growing alpha meets only if alpha rises up to it [smi
  /// 20].
  void require_rise(const StageStart& start, const std::vector<FixedPointNode>& nodes,
                    const StageStart& next);

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

}  // namespace onset::smi::stairs
