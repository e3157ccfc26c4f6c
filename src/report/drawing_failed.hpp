#pragma once

#include "onset/core/error.hpp"

namespace onset::report {

/// Thrown when gnuplot is missing or did not draw. The numbers are unharmed, unlike when files
/// cannot be written.
class DrawingFailed : public IoError {
 public:
  explicit DrawingFailed(const std::string& message) : IoError("gnuplot", message) {}
};

}  // namespace onset::report
