#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/gnuplot/parts.hpp"
#include "report/gnuplot/plot_text.hpp"

namespace onset::report {
namespace {

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

bool shows(const PlotAxis& axis, double value) {
  return std::isfinite(value) && (!axis.log || value > 0.0) && value >= axis.min.value_or(value) &&
         value <= axis.max.value_or(value);
}

/// The range of what is seen in the panel; low is above high where nothing is.
Range range_of(char name, const DrawnPanel& panel) {
  const bool is_x = name == 'x';
  const PlotAxis& axis = is_x ? panel.x : panel.y;
  Range range;
  for (const Curve& curve : panel.curves) {
    for (const Point& point : curve.points) {
      const bool seen = shows(panel.x, point.x) && shows(panel.y, point.y);
      if (seen) range.take(is_x ? point.x : point.y);
    }
  }
  if (panel.shades) {
    range = {};
    const auto edges = cell_edges(is_x ? panel.shades->x : panel.shades->y, axis.log);
    for (const double edge : edges) range.take(edge);
  }
  return range;
}

/// The range of an axis with nothing on it. gnuplot fails where it has nothing to choose a range
/// by.
Range bare_range(const PlotAxis& axis) {
  constexpr double decade = 10.0;
  const auto above = [&axis](double low) { return axis.log ? decade * low : low + 1.0; };
  const auto below = [&axis](double high) { return axis.log ? high / decade : high - 1.0; };
  if (axis.min) return {*axis.min, axis.max.value_or(above(*axis.min))};
  if (axis.max) return {below(*axis.max), *axis.max};
  const double low = axis.log ? 1.0 : 0.0;
  return {low, above(low)};
}

std::string bound(const std::optional<double>& value, double otherwise) {
  if (value) return fmt::format("{}", *value);
  return std::isfinite(otherwise) ? fmt::format("{}", otherwise) : std::string("*");
}

/// The ends of an axis where they are not given. A map ends where its areas do; a logarithmic axis
/// gets some room on both sides, without which its ends would be powers of ten; for others gnuplot
/// chooses round ones.
Range ends(const DrawnPanel& panel, const PlotAxis& axis, Range range) {
  if (!(range.low <= range.high)) return bare_range(axis);
  if (axis.min) range.low = *axis.min;
  if (axis.max) range.high = *axis.max;
  if (panel.shades) return range;
  if (!axis.log) return {};
  constexpr double share = 0.06;
  const double room = range.high > range.low ? std::pow(range.high / range.low, share) : 2.0;
  return {axis.min.value_or(range.low / room), axis.max.value_or(range.high * room)};
}

}  // namespace

std::string linear_tics(std::string_view name) {
  return fmt::format("set {0}tics autofreq\nset m{0}tics 2\nset format {0} '%g'\n", name);
}

std::string log_tics(std::string_view name, double low, double high) {
  if (!(low > 0.0) || !(low < high)) return linear_tics(name);
  if (std::log10(high / low) >= 2.0) {
    return fmt::format("set {0}tics autofreq\nset m{0}tics 10\nset format {0} '10^{{%T}}'\n", name);
  }
  constexpr double rounding = 1.001;  // the end of an axis may be intended as a tic
  std::string tics;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  for (int power = first; power <= last; ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double at = factor * std::pow(10.0, power);
      if (at >= low / rounding && at <= high * rounding) {
        tics += fmt::format("{}{:.6g}", tics.empty() ? "" : ",", at);
      }
    }
  }
  return fmt::format("set {0}tics ({1})\nset format {0} '%g'\n", name, tics);
}

std::string axis_commands(char name, const DrawnPanel& panel) {
  const PlotAxis& axis = name == 'x' ? panel.x : panel.y;
  const Range range = range_of(name, panel);
  const Range limits = ends(panel, axis, range);
  const std::string letter(1, name);
  return fmt::format("set {0}label {1}\nset {0}range [{2}:{3}]\n{4} logscale {0}\n{5}", name,
                     plot_text(axis.label), bound(axis.min, limits.low),
                     bound(axis.max, limits.high), axis.log ? "set" : "unset",
                     axis.log ? log_tics(letter, limits.low, limits.high) : linear_tics(letter));
}

}  // namespace onset::report
