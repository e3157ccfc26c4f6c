#include "core/outcome.hpp"

#include <cmath>
#include <cstdio>

namespace onset {

namespace {

/// Errors are written with few digits: only their order of magnitude matters.
std::string short_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", x);
  return text;
}

}  // namespace

void judge_tolerance(double tolerance, const std::string& column, const std::string& remedy,
                     Result& result) {
  if (!(tolerance > 0.0)) return;
  double largest = 0.0;
  for (std::size_t row = 0; row < result.table.rows().size(); ++row) {
    const double error = result.table.error(row, column);
    largest = std::isnan(error) || error > largest ? error : largest;
    if (std::isnan(largest)) break;
  }
  if (largest <= tolerance) return;
  result.unconverged(
      "the error of " + column + " is " +
      (std::isnan(largest) ? "not known, so it may be" : "up to " + short_text(largest) + ",") +
      " above the tolerance " + short_text(tolerance) + "; " + remedy);
}

}  // namespace onset
