#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onset/core/estimate.hpp"
#include "onset/ssi/learners/sgd.hpp"

/// What many runs of SGD say together.
namespace onset::ssi {

/// max(|e|, |m|) above which a run counts as converged. [ssi 34]
inline constexpr double converged_overlap = 0.5;
[[nodiscard]] bool is_converged(const SgdRun& run);
[[nodiscard]] bool is_semantic(const SgdRun& run);  ///< converged, and |m| > |e|

/// Runs that have reached the level.
[[nodiscard]] std::int64_t count_reached(const std::vector<SgdRun>& runs);
[[nodiscard]] Estimate reached_fraction(const std::vector<SgdRun>& runs);
/// The mean of their first passages, in steps; nothing if no run has one.
[[nodiscard]] std::optional<Estimate> mean_passage(const std::vector<SgdRun>& runs);
/// The mean of |e| or |m| over all runs.
[[nodiscard]] Estimate mean_size(const std::vector<SgdRun>& runs, double SgdRun::*overlap);

}  // namespace onset::ssi
