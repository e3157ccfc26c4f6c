#pragma once

#include <optional>
#include <vector>

#include "onset/core/estimate.hpp"

namespace onset::ssi {

/// The slope of log(value) against log(size) by least squares, weighted by the errors; nothing for
/// fewer than two points.
[[nodiscard]] std::optional<Estimate> power_law(const std::vector<double>& sizes,
                                                const std::vector<Estimate>& values);

}  // namespace onset::ssi
