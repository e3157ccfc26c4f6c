#pragma once

#include <memory>

#include "explore/runs.hpp"

namespace onset::tool {

/// Runs of verbs in processes of their own, as a sweep's points are: one that crashes or takes all
/// memory is a failed run and not the end of the server, and one that is stopped leaves nothing.
/// `memory` is what all of them together may use.
[[nodiscard]] std::unique_ptr<explore::Runs> process_runs(std::size_t memory);

}  // namespace onset::tool
