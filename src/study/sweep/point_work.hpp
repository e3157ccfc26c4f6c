#pragma once

#include <algorithm>

#include "onset/study/study.hpp"

namespace onset::study {

/// The estimated work of a point, in core-seconds. It is never zero, so that points without an
/// estimate count alike.
[[nodiscard]] inline double point_work(const Point& point) {
  constexpr double least_seconds = 0.01;
  return std::max(point.core_seconds, least_seconds);
}

}  // namespace onset::study
