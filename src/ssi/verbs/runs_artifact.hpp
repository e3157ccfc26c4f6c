#pragma once

#include <string>
#include <vector>

#include "onset/core/artifact.hpp"
#include "onset/ssi/learners/sgd.hpp"

namespace onset::ssi {

/// Every run's last overlaps, first passage and whether it converged, as a CSV file.
[[nodiscard]] Artifact runs_artifact(const std::vector<SgdRun>& runs, const std::string& path);

}  // namespace onset::ssi
