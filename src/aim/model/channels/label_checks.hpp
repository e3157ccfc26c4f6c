#pragma once

#include <cmath>
#include <string>

#include "onset/core/error.hpp"
#include "onset/core/parameters.hpp"

/// What channels require of labels that may come from other programs.
namespace onset::aim {

/// Labels of other programs may be rounded to single precision; numbers that are further off are no
/// labels.
inline constexpr double label_tolerance = 1e-4;

[[noreturn]] inline void wrong_label(std::size_t sample, const std::string& what) {
  throw InvalidArgument("labels", "sample " + std::to_string(sample) + " " + what);
}

inline void check_symmetry(double one, double other, std::size_t sample) {
  if (std::abs(one - other) <= label_tolerance * (1.0 + std::abs(one))) return;
  wrong_label(sample, "shows scores " + to_text(Value(one)) + " and " + to_text(Value(other)) +
                          " of the same two tokens; allowed: labels of symmetric scores");
}

}  // namespace onset::aim
