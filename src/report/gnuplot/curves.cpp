#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/gnuplot/look_colour.hpp"
#include "report/gnuplot/parts.hpp"
#include "report/gnuplot/plot_text.hpp"
#include "report/gnuplot/style.hpp"

namespace onset::report {
namespace {

/// gnuplot's numbers of the marks, filled and hollow, in the order of Mark.
int mark_of(const Look& look, bool hollow) {
  constexpr std::array<int, 4> filled{7, 5, 9, 13};
  return filled.at(static_cast<std::size_t>(look.mark)) - (hollow ? 1 : 0);
}

std::string title_of(const Curve& curve) {
  return curve.look.label.empty() ? std::string("notitle") : "title " + plot_text(curve.look.label);
}

bool has_errors(const Curve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(),
                     [](const Point& point) { return point.error > 0.0; });
}

void add_lines(std::vector<std::string>& parts, const std::string& data, const Curve& curve) {
  const std::string colour = look_colour(curve.look);
  if (has_errors(curve)) {
    parts.push_back(fmt::format(
        "{} using 1:3:4 with filledcurves fillstyle transparent solid {} noborder linecolor rgb "
        "\"{}\" notitle",
        data, style::band_opacity, colour));
  }
  parts.push_back(
      fmt::format("{} using 1:2 with lines linewidth 2 dashtype {} linecolor rgb \"{}\" {}", data,
                  curve.look.style == LineStyle::dashed ? "(8,5)" : "1", colour, title_of(curve)));
}

void add_marks(std::vector<std::string>& parts, const std::string& data, const Curve& curve) {
  const std::string colour = look_colour(curve.look);
  if (curve.look.style == LineStyle::joined) {
    parts.push_back(fmt::format("{} using 1:2 with lines linewidth 1 linecolor rgb \"{}\" notitle",
                                data, colour));
  }
  // Errors smaller than a mark are still drawn, for those who look closer in the script.
  if (has_errors(curve)) {
    parts.push_back(fmt::format(
        "{} using 1:2:3:4 with yerrorbars pointtype 0 linewidth 1.2 linecolor rgb \"{}\" notitle",
        data, colour));
  }
  parts.push_back(fmt::format(
      "{} using 1:2 with points pointtype {} pointsize {} linewidth 1.1 linecolor rgb \"{}\" {}",
      data, mark_of(curve.look, curve.hollow), curve.hollow ? 0.75 : 0.7, colour, title_of(curve)));
}

/// The lower end of an error bar. On a logarithmic axis one that reaches below zero gets an end
/// that is surely outside of the picture.
double lower_end(const Point& point, double error, bool log_y) {
  constexpr double far_below = 1e-6;
  const double low = point.y - error;
  return log_y && low <= 0.0 && point.y > 0.0 ? far_below * point.y : low;
}

/// Whether the axes have such numbers.
bool has_place(const Point& point, const DrawnPanel& panel) {
  return (!panel.x.log || point.x > 0.0) && (!panel.y.log || point.y > 0.0);
}

}  // namespace

std::string curve_data(const std::string& name, const Curve& curve, const DrawnPanel& panel) {
  // The label is in quotes where the curve is plotted and not in a comment here, which only the end
  // of the line would close.
  std::string out = fmt::format("# x y low high\n{} << END\n", name);
  bool broken = false;
  bool begun = false;
  for (const Point& point : curve.points) {
    if (!has_place(point, panel)) {
      broken = begun;
      continue;
    }
    if (broken) out += "\n";  // one empty line breaks a curve; two would end it
    const double error = std::isfinite(point.error) ? point.error : 0.0;
    out += fmt::format("{} {} {} {}\n", point.x, point.y, lower_end(point, error, panel.y.log),
                       point.y + error);
    broken = false;
    begun = true;
  }
  return out + "END\n";
}

void add_curve(std::vector<std::string>& parts, const std::string& name, const Curve& curve,
               const DrawnPanel& panel) {
  const auto seen = std::count_if(curve.points.begin(), curve.points.end(),
                                  [&panel](const Point& point) { return has_place(point, panel); });
  if (seen == 0) return;
  // A single point makes no line, but is seen as a mark.
  const bool marks = curve.hollow || curve.look.style == LineStyle::points ||
                     curve.look.style == LineStyle::joined || seen == 1;
  (marks ? add_marks : add_lines)(parts, name, curve);
}

}  // namespace onset::report
