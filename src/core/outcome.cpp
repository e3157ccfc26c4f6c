#include "onset/core/outcome.hpp"

#include <cstdio>

namespace onset {

namespace {

/// An error is an order of magnitude.
std::string short_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", x);
  return text;
}

}  // namespace

void judge_tolerance(const Parameters& p, const std::string& column, const std::string& remedy,
                     Result& result) {
  judge_tolerance(p.real("tol"), column, remedy, result);
}

void judge_tolerance(double tolerance, const std::string& column, const std::string& remedy,
                     Result& result) {
  if (result.status != ResultStatus::ok || !(tolerance > 0.0)) return;
  double largest = 0.0;
  for (std::size_t row = 0; row < result.table.rows().size(); ++row) {
    const double error = result.table.error(row, column);
    largest = error <= largest ? largest : error;  // what is no number is not good enough
  }
  if (largest <= tolerance) return;
  result.unconverged("the error of " + column + " is up to " + short_text(largest) +
                     ", above the tolerance " + short_text(tolerance) + "; " + remedy);
}

}  // namespace onset
