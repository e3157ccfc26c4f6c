#pragma once

#include <cstddef>
#include <vector>

#include "onset/core/estimate.hpp"
#include "onset/smi/limits/branch.hpp"
#include "onset/smi/limits/fixed_points.hpp"

/// What the nodes of a branch say about its beginning, its top and its end.
namespace onset::smi {

/// The mean of the exponentials, with a bound on their common relative bias.
[[nodiscard]] Estimate exponential(const numerics::Replicates& logs, double relative_bias);

/// Whether alpha at first falls significantly along the branch, so that the transition is a jump.
[[nodiscard]] bool folds(const StageStart& start, const std::vector<FixedPointNode>& nodes);

/// The overlap of a block where a folded branch has risen to its threshold's alpha again. Its error
/// includes what a bias of alpha along the branch moves it by.
[[nodiscard]] Estimate jump(const StageStart& start, std::size_t block, const Branch& branch);

/// The last node far enough before the deep end of a branch that the change beyond the end is less
/// than the change between the two.
[[nodiscard]] const FixedPointNode& shallower(const std::vector<FixedPointNode>& nodes);

/// The nodes with every replicate's sample ratios multiplied so that its deepest one is `end`, the
/// limit that is known [smi 21]. What is left of the way to it is a bias, as large as the last
/// steps towards it.
[[nodiscard]] std::vector<FixedPointNode> anchored_at_end(std::vector<FixedPointNode> nodes,
                                                          double end);

/// A sample ratio that no node exceeds, at three standard errors.
[[nodiscard]] double upper_bound(const std::vector<FixedPointNode>& nodes);

/// The largest alpha along the nodes. The place is chosen by one half of the replicates and alpha
/// there taken from the other, both ways: a maximum of noisy curves would be biased upwards.
[[nodiscard]] Estimate max_alpha(const std::vector<FixedPointNode>& nodes);

}  // namespace onset::smi
