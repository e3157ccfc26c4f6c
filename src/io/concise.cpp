#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "onset/io/format.hpp"

namespace onset::io {
namespace {

/// Removes the sign of a number that is written as zero.
std::string without_sign_of_zero(std::string text) {
  const bool zero = text.find_first_not_of("-0.") == std::string::npos;
  if (zero && text.front() == '-') text.erase(0, 1);
  return text;
}

/// Writes a number for people; CSV and JSON have all digits.
std::string plain(double value) {
  return without_sign_of_zero(fmt::format("{:.10g}", value));
}

int decimal_exponent(double x) {
  return static_cast<int>(std::floor(std::log10(x)));
}

/// Value and error with a common number of decimals.
std::string with_decimals(double value, double error, int decimals) {
  const double last_digits = std::round(error * std::pow(10.0, decimals));
  return fmt::format("{}({:.0f})", without_sign_of_zero(fmt::format("{:.{}f}", value, decimals)),
                     std::max(last_digits, 1.0));
}

}  // namespace

std::string concise(const Estimate& estimate) {
  const double value = estimate.value;
  const double error = std::abs(estimate.error);
  constexpr double rounding = 5e-14;  // further digits mean nothing to people; files have them
  if (error <= rounding * std::abs(value) || !std::isfinite(value)) return plain(value);
  if (!std::isfinite(error)) return plain(value) + "(?)";

  // The error is rounded to two digits first, so that 0.0999 counts as 0.10 and not as 0.09.
  const std::string two_digits = fmt::format("{:.1e}", error);
  const int error_exponent = std::atoi(two_digits.c_str() + two_digits.find('e') + 1);
  const int digits = two_digits[0] == '1' ? 2 : 1;

  const int leading = decimal_exponent(std::max(std::abs(value), error));
  constexpr int most_digits = 16;  // a double has no more
  const bool scientific = leading >= 7 || leading < -4;
  const int shift = scientific ? leading : 0;
  const int wanted = digits - 1 - (error_exponent - shift);
  const int decimals = std::clamp(wanted, 0, std::max(most_digits - 1 - (leading - shift), 0));
  if (!scientific) return with_decimals(value, error, decimals);
  const double unit = std::pow(10.0, shift);
  return fmt::format("{}e{}", with_decimals(value / unit, error / unit, decimals), shift);
}

}  // namespace onset::io
