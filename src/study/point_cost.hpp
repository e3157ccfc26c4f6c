#pragma once

#include "onset/study/study.hpp"

namespace onset::study {

/// What the verb says of the point; nothing (zeros) where it has no estimate.
[[nodiscard]] Cost point_cost(const Plan& plan, std::size_t index);

}  // namespace onset::study
