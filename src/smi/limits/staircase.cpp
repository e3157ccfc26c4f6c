#include "onset/smi/limits/staircase.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "onset/core/error.hpp"
#include "smi/limits/staircase_builder.hpp"

namespace onset::smi::stairs {
namespace {

/// The measured end of the last branch against counting: beyond so many standard errors the
/// measurement is not to be trusted.
constexpr double recovery_significance = 4.0;

/// Folds beyond this part of alpha are looked for, or beyond so many tolerances where that is more.
constexpr double fold_resolution = 3e-3;
constexpr double tolerances_of_folds = 3.0;

/// Most outer points per replicate of a branch whose maximum is wanted.
constexpr std::size_t max_trace = 4096;

}  // namespace

Staircase Builder::build() {
  int directions = 0;
  for (const int rank : model_.shape().rank) directions += rank;
  if (model_.constraints() > 0.0 && options_.held.empty()) {
    result_.perfect = static_cast<double>(directions) / model_.constraints();
  }
  for (std::size_t b = 0; b < options_.held.size(); ++b) recovered_.at(b) = options_.held[b] >= 0.0;
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

std::optional<NextStage> Builder::finish_stage(NextStage now) {
  const double progress = static_cast<double>(std::count(learned_.begin(), learned_.end(), true)) /
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
    const double resolution =
        1.0 + std::max(fold_resolution, tolerances_of_folds * options_.tolerance);
    const auto is_open = [&] {
      return result_.hard_phase ? result_.algorithmic.error > options_.tolerance
                                : result_.algorithmic_below > resolution * *result_.perfect;
    };
    while (is_open() && trace_points_ < std::min(max_trace, options_.max_points)) {
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

Blocks Builder::pulled_along(const std::vector<FixedPointNode>& nodes) const {
  Blocks blocks;
  for (std::size_t b = 0; b < blocks_; ++b) {
    if (is_open(b) && is_positive(nodes[min_nodes - 1].pull[b])) blocks.push_back(b);
  }
  return blocks;
}

void Builder::add_step(const NextStage& step, const Blocks& given,
                       const std::vector<FixedPointNode>& nodes) {
  Branch branch(model_.shape().rank, step.start, nodes);
  const bool jumps = !step.trivial && folds(step.start, nodes);
  const Estimate size = jumps ? jump(step.start, step.blocks.front(), branch) : Estimate{};
  result_.steps.push_back({step.blocks, step.trivial, given, step.start, threshold(step), size,
                           step.cross_growth, std::move(branch)});
}

void Builder::find_recovery(const std::vector<FixedPointNode>& nodes) {
  // Not yet at V = 0: what is left of it is a bias, as large as the last steps towards it.
  const double remaining =
      std::abs(numerics::mean(nodes.back().log_alpha) - numerics::mean(shallower(nodes).log_alpha));
  result_.contraction = exponential(nodes.back().log_alpha, nodes.back().relative_bias + remaining);
  const double offset = std::abs(result_.contraction.value - *result_.perfect);
  if (offset > recovery_significance * result_.contraction.error) result_.sound = false;
  // Its deep end is known, by counting: next to it the curve scatters less relative to its end than
  // by itself, and far from it more.
  const std::vector<FixedPointNode> anchored = anchored_at_end(nodes, *result_.perfect);
  const Estimate relative = max_alpha(anchored);
  const Estimate absolute = max_alpha(nodes);
  const Estimate top = relative.error < absolute.error ? relative : absolute;
  result_.algorithmic_below = std::min(upper_bound(anchored), upper_bound(nodes));
  result_.hard_phase = top.value - *result_.perfect > significance * top.error;
  result_.algorithmic = result_.hard_phase ? top : Estimate{*result_.perfect, 0.0};
}

}  // namespace onset::smi::stairs

namespace onset::smi {

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
  return stairs::Builder(model, options, context, found).build();
}

}  // namespace onset::smi
