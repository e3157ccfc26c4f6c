#include "core/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/field_names.hpp"
#include "core/printable.hpp"
#include "onset/core/error.hpp"
#include "onset/core/parameters.hpp"

namespace onset::detail {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(trim(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

/// The short decimal next to x if the two differ by rounding noise (relative to `scale`) alone, so
/// that 0.1 + 2 * 0.1 is the 0.3 that a person means; otherwise x itself.
double snap(double x, double scale) {
  scale = std::abs(scale);
  if (scale == 0.0 || !std::isfinite(scale)) return x;
  constexpr int digits = 14;
  const int decimals = digits - 1 - static_cast<int>(std::floor(std::log10(scale)));
  if (decimals < 0 || decimals > 300) return x;
  const std::string text = fmt::format("{:.{}f}", x, decimals);
  double rounded = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  constexpr double noise = 4.0 * std::numeric_limits<double>::epsilon();
  // Adding 0.0 turns -0 into 0.
  return std::abs(rounded - x) <= noise * scale ? rounded + 0.0 : x;
}

/// Reads the whole text as one number; spaces around it and a leading plus are ignored.
template <class Number>
Number read_strictly(const Parameter& parameter, std::string_view text, std::string_view noun,
                     std::string_view too_large) {
  std::string_view digits = trim(text);
  if (digits.empty()) reject(parameter, fmt::format("{} is missing", noun));
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  Number value{};
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc::result_out_of_range && rest == end) {
    reject(parameter, fmt::format("{} {}", in_quotes(text), too_large));
  }
  if (error != std::errc{} || rest != end) {
    reject(parameter, fmt::format("{} is not {}", in_quotes(text), noun));
  }
  return value;
}

void check_count(const Parameter& parameter, std::string_view text, double count) {
  if (count > static_cast<double>(max_grid_points)) {
    reject(parameter, fmt::format("{} has more than {} points", in_quotes(text), max_grid_points));
  }
}

std::vector<double> linear_grid(const Parameter& parameter, std::string_view text,
                                const std::vector<std::string_view>& parts) {
  const double start = parse_number(parameter, parts[0]);
  const double stop = parse_number(parameter, parts[1]);
  const double step = parse_number(parameter, parts[2]);
  if (step == 0.0) reject(parameter, fmt::format("{} has step 0", in_quotes(text)));
  const double steps = (stop - start) / step;
  if (steps < 0.0) {
    reject(parameter, fmt::format("{} is empty: a step of {} does not lead from {} to {}",
                                  in_quotes(text), step, start, stop));
  }
  // A stop that is missed by rounding alone is still reached.
  constexpr double rounding = 1e-9;
  check_count(parameter, text, steps);
  const auto last = static_cast<std::size_t>(std::floor(steps + rounding));
  check_count(parameter, text, static_cast<double>(last) + 1.0);
  const double scale = std::max(std::abs(start), std::abs(stop));
  std::vector<double> points(last + 1);
  for (std::size_t i = 0; i <= last; ++i) {
    points[i] = snap(start + static_cast<double>(i) * step, scale);
  }
  if (std::abs(points[last] - stop) <= rounding * std::abs(step)) points[last] = stop;
  points[0] = start;
  return points;
}

std::vector<double> logarithmic_grid(const Parameter& parameter, std::string_view text,
                                     const std::vector<std::string_view>& parts) {
  const double start = parse_number(parameter, parts[1]);
  const double stop = parse_number(parameter, parts[2]);
  const double count = parse_number(parameter, parts[3]);
  if (start <= 0.0 || stop <= 0.0) {
    reject(parameter, fmt::format("{} needs start and stop above 0", in_quotes(text)));
  }
  if (count != std::floor(count) || count < 1.0) {
    reject(parameter, fmt::format("{} needs a whole count of 1 or more", in_quotes(text)));
  }
  if (count == 1.0 && start != stop) {
    reject(parameter, fmt::format("{} has one point but two ends", in_quotes(text)));
  }
  check_count(parameter, text, count);
  std::vector<double> points(static_cast<std::size_t>(count));
  const double quotient =
      stop / start;  // beyond the range of a double where the ends are far apart
  const double ratio =
      std::isnormal(quotient) ? std::log(quotient) : std::log(stop) - std::log(start);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double x = start * std::exp(ratio * (static_cast<double>(i) / (count - 1.0)));
    points[i] = snap(x, x);
  }
  points.back() = stop;
  points.front() = start;
  return points;
}

}  // namespace

std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

void reject(const Parameter& parameter, const std::string& problem, const std::string& hint) {
  throw InvalidArgument(field_name(parameter.name),
                        problem + "; allowed: " + parameter.allowed() + hint);
}

double parse_number(const Parameter& parameter, std::string_view text) {
  const auto value =
      read_strictly<double>(parameter, text, "a number", "is beyond the range of a double");
  if (!std::isfinite(value)) reject(parameter, fmt::format("{} is not finite", in_quotes(text)));
  return value;
}

std::int64_t parse_integer(const Parameter& parameter, std::string_view text) {
  using Limits = std::numeric_limits<std::int64_t>;
  const std::string too_large =
      fmt::format("does not fit in 64 bits ({} to {})",
                  parameter.min >= 0.0 ? std::int64_t{0} : Limits::min(), Limits::max());
  return read_strictly<std::int64_t>(parameter, text, "a whole number", too_large);
}

std::vector<double> parse_list(const Parameter& parameter, std::string_view text) {
  if (trim(text).empty()) reject(parameter, "the list is empty");
  const std::vector<std::string_view> parts = split(text, ',');
  check_count(parameter, text, static_cast<double>(parts.size()));
  std::vector<double> points;
  points.reserve(parts.size());
  for (const std::string_view part : parts) {
    if (part.empty()) reject(parameter, fmt::format("{} has an empty item", in_quotes(text)));
    points.push_back(parse_number(parameter, part));
  }
  return points;
}

std::vector<double> parse_grid(const Parameter& parameter, std::string_view text) {
  if (trim(text).empty()) reject(parameter, "the grid is empty");
  if (text.find(':') == std::string_view::npos) return parse_list(parameter, text);
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts[0] == "log") {
    if (parts.size() == 4) return logarithmic_grid(parameter, text, parts);
    reject(parameter, fmt::format("{} is not log:start:stop:count", in_quotes(text)));
  }
  if (parts.size() == 3) return linear_grid(parameter, text, parts);
  reject(parameter, fmt::format("{} is not start:stop:step", in_quotes(text)));
}

}  // namespace onset::detail
