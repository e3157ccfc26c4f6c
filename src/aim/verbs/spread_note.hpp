#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "onset/core/verb.hpp"

namespace onset::aim {

/// Runs further apart than this factor are said to be.
inline constexpr double wide_spread = 10.0;

/// Where nothing of the error is left in theory, what finite runs leave of it differs by orders of
/// magnitude: their mean is that of the largest, and no standard error of a few runs covers it.
inline void say_spread(double alpha, const std::vector<double>& mse, Result& result) {
  if (mse.size() < 2) return;
  const auto [least, most] = std::minmax_element(mse.begin(), mse.end());
  if (!(*most > wide_spread * *least)) return;
  result.notes.push_back(
      fmt::format("alpha = {}: above perfect recovery errors of single runs range from {:.1g} to "
                  "{:.1g}; their mean is that of the largest, and its stated error may be far too "
                  "small.",
                  to_text(Value(alpha)), *least, *most));
}

}  // namespace onset::aim
