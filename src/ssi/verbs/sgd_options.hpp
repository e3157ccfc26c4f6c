#pragma once

#include <string>
#include <vector>

#include "onset/core/artifact.hpp"
#include "onset/core/estimate.hpp"
#include "onset/core/parameters.hpp"
#include "onset/ssi/learners/sgd.hpp"

namespace onset::ssi {

/// dim, rate, runs, start, level.
[[nodiscard]] std::vector<Parameter> sgd_parameters();
/// These; steps stay at their default.
[[nodiscard]] SgdOptions read_sgd(const Parameters& parameters);

/// --steps, 0 where it is to be chosen; throws InvalidArgument unless whole.
[[nodiscard]] double whole_steps(const Parameters& parameters);

/// A fraction of runs with its binomial standard error, which is not 0 at 0 or 1 (that of the
/// posterior under a flat prior).
[[nodiscard]] Estimate binomial(std::size_t successes, std::size_t runs);

/// Every run's last overlaps, first passage and whether it converged, as a CSV file.
[[nodiscard]] Artifact runs_artifact(const std::vector<SgdRun>& runs, const std::string& path);

/// max(|e|, |m|) above which a run counts as converged. [ssi 34]
inline constexpr double converged_overlap = 0.5;
[[nodiscard]] bool is_converged(const SgdRun& run);
[[nodiscard]] bool is_semantic(const SgdRun& run);  ///< converged, and |m| > |e|

}  // namespace onset::ssi
