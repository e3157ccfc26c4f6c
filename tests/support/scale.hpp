#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "onset/core/error.hpp"

namespace onset::testing {

/// Largest ONSET_TEST_SCALE: more would be a slip of the finger, not a test.
inline constexpr double max_scale = 1e4;

/// The factor that a text stands for; 1 for none. Throws InvalidArgument for what is no number in
/// (0, max_scale].
inline double parse_scale(const char* text) {
  if (text == nullptr || *text == '\0') return 1.0;
  char* end = nullptr;
  const double scale = std::strtod(text, &end);
  if (*end != '\0' || !(scale > 0.0 && scale <= max_scale)) {
    throw InvalidArgument("ONSET_TEST_SCALE",
                          "'" + std::string(text) + "'; allowed: a number in (0, 10000]");
  }
  return scale;
}

/// Whether samples are as many as a test asks for: a bound on the size of an error holds only then.
inline bool at_full_size() {
  return parse_scale(std::getenv("ONSET_TEST_SCALE")) >= 1.0;
}

/// A sample size times the environment variable ONSET_TEST_SCALE, at least 1.
inline int scaled(int samples) {
  const double scale = parse_scale(std::getenv("ONSET_TEST_SCALE"));
  return static_cast<int>(std::max(1L, std::lround(samples * scale)));
}

}  // namespace onset::testing
