#pragma once

#include <memory>
#include <optional>

#include "onset/study/sweep.hpp"

namespace onset::tool {

/// Processes of this program, as many as a ThreadBudget of context.threads and context.memory_limit
/// allows: each computes one point at a time and is used again for the next. A point that crashes,
/// is killed or takes longer than `max_point_seconds` costs its process and comes back failed, with
/// what is known about its end. The destructor abandons points under way.
[[nodiscard]] std::unique_ptr<study::Workers> process_workers(
    const study::Plan& plan, std::size_t points_to_do, const Context& context,
    std::optional<double> max_point_seconds = std::nullopt);

/// What such a process does: computes the points of the requests on its standard input until there
/// are no more of them. Returns the exit code.
int serve_points();

}  // namespace onset::tool
