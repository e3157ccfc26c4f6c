#pragma once

#include <memory>

#include "explore/runs.hpp"

namespace onset::tool {

/// Sweeps in processes of their own, `onset sweep STUDY --store FILE`.
[[nodiscard]] std::unique_ptr<explore::Sweeps> child_sweeps();

}  // namespace onset::tool
