#pragma once

#include <cstdint>
#include <memory>

#include "numerics/point_sets/quasi_monte_carlo.hpp"

namespace onset::numerics {

/// The first 2^index_bits points of scrambled_sobol(): the same points, but made ready in a
/// fraction of the time when there are few.
[[nodiscard]] std::unique_ptr<PointSet> scrambled_sobol_prefix(int dimensions, std::uint64_t seed,
                                                               std::uint64_t replicate,
                                                               int index_bits);

}  // namespace onset::numerics
