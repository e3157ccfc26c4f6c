#pragma once

#include <span>

#include "onset/core/estimate.hpp"

namespace onset::aim {

/// Mean of independent runs and its error from their scatter. Few runs know their scatter badly:
/// the error is widened by Student's factor, so that it covers the true mean in 68 % of all cases
/// as it does for many runs (1.84 for two runs, 1.20 for four). NaN, not known, for one run.
[[nodiscard]] Estimate mean_of_runs(std::span<const double> values);

}  // namespace onset::aim
