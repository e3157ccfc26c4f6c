#pragma once

#include <cstddef>
#include <vector>

#include "onset/smi/limits/fixed_points.hpp"
#include "onset/smi/limits/staircase.hpp"

namespace onset::smi {

/// A threshold as accurate as was asked for, or as the largest number of points allows.
struct RefinedThreshold {
  FixedPointNode node;
  bool met_tolerance = true;
};

/// Finds where `block` starts to grow, given the learned ones. It raises the outer points against
/// scatter and the inner nodes against bias until the tolerance is met; what doubling the inner
/// nodes changes is part of the stated bias [smi 85]. `guess` has the log precisions of all blocks.
[[nodiscard]] RefinedThreshold refine_threshold(const SequenceModel& model,
                                                const StaircaseOptions& options,
                                                const std::vector<bool>& learned, std::size_t block,
                                                std::vector<double> guess, const Context& context);

}  // namespace onset::smi
