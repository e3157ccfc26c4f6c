#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "onset/core/error.hpp"

namespace onset::numerics::detail {

/// Checks the arguments of PointSet::points() for a set of `size` points.
inline void check_point_range(std::size_t first, std::size_t count, std::size_t size,
                              std::size_t dimensions, std::span<const double> out) {
  if (count > size || first > size - count) {
    throw InvalidArgument("count", std::to_string(count) + " points from " + std::to_string(first) +
                                       " on; allowed: up to the last, " + std::to_string(size - 1));
  }
  if (out.size() != count * dimensions) {
    throw InvalidArgument("out", "must have count * dimensions elements");
  }
}

}  // namespace onset::numerics::detail
