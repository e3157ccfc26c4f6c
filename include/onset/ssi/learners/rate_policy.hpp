#pragma once

#include <string_view>

namespace onset::ssi {

/// The learning rate of the tied student beside that of the untied one.
enum class RatePolicy {
  equal,    ///< the same
  sqrt,     ///< sqrt(L) times
  linear,   ///< L times
  optimal,  ///< each student has its own best rate, half of the largest at which it learns
};
[[nodiscard]] std::string_view to_string(RatePolicy policy);

}  // namespace onset::ssi
