#pragma once

#include "aim/limits/flow/flow_model.hpp"
#include "aim/limits/flow/solution.hpp"

namespace onset::aim {

/// About the core-seconds that solve_flow() takes up to time `last`; measured on one core.
[[nodiscard]] double flow_seconds(const FlowModel& model, double last, const FlowOptions& options);

}  // namespace onset::aim
