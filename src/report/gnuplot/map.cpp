#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/gnuplot/parts.hpp"
#include "report/gnuplot/plot_text.hpp"
#include "report/gnuplot/style.hpp"

namespace onset::report {
namespace {

std::string contour_name(const std::string& name) {
  return name + "_contours";
}

std::string_view area_colour(std::size_t word) {
  return style::areas.at(word % style::areas.size());
}

/// The colour as a number, as gnuplot's `rgb variable` wants it.
unsigned long colour_number(std::string_view colour) {
  return std::stoul(std::string(colour.substr(1)), nullptr, 16);
}

struct Span {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

/// The span from the least to the greatest value that can be shown.
Span span_of(const Shades& shades) {
  Span span;
  for (const double z : shades.z) {
    if (!std::isfinite(z) || (shades.log && z <= 0.0)) continue;
    span.low = std::min(span.low, z);
    span.high = std::max(span.high, z);
  }
  return span;
}

/// Whether there can be contour lines, which need a square of four values and a change between
/// them.
bool has_contours(const Shades& shades) {
  if (shades.contours.empty() && shades.contour_count == 0) return false;
  if (!shades.words.empty() || shades.x.size() < 2 || shades.y.size() < 2) return false;
  const Span span = span_of(shades);
  return span.low < span.high;
}

/// The corners and the value of every area.
std::string cells_data(const std::string& name, const DrawnPanel& panel) {
  const Shades& shades = *panel.shades;
  const std::vector<double> x = cell_edges(shades.x, panel.x.log);
  const std::vector<double> y = cell_edges(shades.y, panel.y.log);
  std::string out = fmt::format("# x y left right bottom top value\n{} << END\n", name);
  for (std::size_t i = 0; i < shades.x.size(); ++i) {
    for (std::size_t j = 0; j < shades.y.size(); ++j) {
      const double z = shades.z[i * shades.y.size() + j];
      if (!std::isfinite(z)) continue;
      out += fmt::format("{} {} {} {} {} {} ", shades.x[i], shades.y[j], x[i], x[i + 1], y[j],
                         y[j + 1]);
      out += shades.words.empty()
                 ? fmt::format("{}\n", z)
                 : fmt::format("{}\n", colour_number(area_colour(static_cast<std::size_t>(z))));
    }
  }
  return out + "END\n";
}

/// The values as a grid, and the lines that gnuplot finds in it.
std::string contour_data(const std::string& name, const Shades& shades) {
  std::string out = fmt::format("{}_grid << END\n", name);
  for (std::size_t i = 0; i < shades.x.size(); ++i) {
    for (std::size_t j = 0; j < shades.y.size(); ++j) {
      const double z = shades.z[i * shades.y.size() + j];
      const std::string text = std::isfinite(z) ? fmt::format("{}", z) : "NaN";
      out += fmt::format("{} {} {}\n", shades.x[i], shades.y[j], text);
    }
    out += '\n';
  }
  const std::string levels = shades.contours.empty()
                                 ? fmt::format("auto {}", shades.contour_count)
                                 : fmt::format("discrete {}", fmt::join(shades.contours, ","));
  return out + fmt::format(
                   "END\nset contour base\nunset surface\nset cntrparam levels {}\n"
                   "set table {}\nsplot {}_grid using 1:2:3 with lines\nunset table\n"
                   "unset contour\nset surface\n",
                   levels, contour_name(name), name);
}

void add_contours(std::vector<std::string>& parts, const std::string& name, const Shades& shades) {
  const std::string lines = contour_name(name);
  // Lines are light on dark, so that they are seen on every shade.
  parts.push_back(lines + " using 1:2 with lines linewidth 2 linecolor rgb \"#333333\" notitle");
  parts.push_back(lines + " using 1:2 with lines linewidth 1 linecolor rgb \"#ffffff\" notitle");
  // Each piece gets one word, away from its beginning, which mostly lies at the edge.
  const std::size_t point =
      std::clamp<std::size_t>(std::min(shades.x.size(), shades.y.size()) / 4, 1, 12);
  parts.push_back(
      fmt::format("{} using 1:2:(sprintf(\"%g\",$3)) every 100000::{} with labels boxed font "
                  "contour_font notitle",
                  lines, point));
}

}  // namespace

std::vector<double> cell_edges(const std::vector<double>& values, bool log) {
  const auto to = [log](double v) { return log ? std::log(v) : v; };
  const auto back = [log](double v) { return log ? std::exp(v) : v; };
  const std::size_t n = values.size();
  if (n == 0) return {};
  std::vector<double> edges;
  const auto half_step = [&](std::size_t i) { return 0.5 * (to(values[i + 1]) - to(values[i])); };
  constexpr double alone = 0.5;
  edges.push_back(back(to(values[0]) - (n > 1 ? half_step(0) : alone)));
  for (std::size_t i = 0; i + 1 < n; ++i) edges.push_back(back(to(values[i]) + half_step(i)));
  edges.push_back(back(to(values[n - 1]) + (n > 1 ? half_step(n - 2) : alone)));
  return edges;
}

std::string map_data(const std::string& name, const DrawnPanel& panel) {
  std::string out = cells_data(name, panel);
  if (has_contours(*panel.shades)) out += contour_data(name, *panel.shades);
  return out;
}

void add_map(std::vector<std::string>& parts, const std::string& name, const Shades& shades) {
  const bool words = !shades.words.empty();
  // A border of its own colour closes the hair lines between areas.
  parts.push_back(
      fmt::format("{} using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid 1.0 border "
                  "linewidth 0.4 linecolor {} notitle",
                  name, words ? "rgb variable" : "palette"));
  for (std::size_t w = 0; w < shades.words.size(); ++w) {
    parts.push_back(fmt::format(
        "keyentry with boxes fillstyle solid 1.0 noborder linecolor rgb \"{}\" title {}",
        area_colour(w), plot_text(literal_text(shades.words[w]))));
  }
  if (has_contours(shades)) add_contours(parts, name, shades);
}

std::string map_commands(const Shades& shades, const Box& bar) {
  if (!shades.words.empty()) return "unset colorbox\n";
  std::string palette;
  for (std::size_t i = 0; i < style::shades.size(); ++i) {
    palette += fmt::format("{}{} \"{}\"", i == 0 ? "" : ", ", i, style::shades[i]);
  }
  const Span span = span_of(shades);
  // gnuplot fails where it has nothing to choose a range by.
  const bool bare = !(span.low <= span.high);
  const double bare_low = shades.log ? 1.0 : 0.0;
  const auto bound = [bare](const std::optional<double>& value, double otherwise) {
    if (value) return fmt::format("{}", *value);
    return bare ? fmt::format("{}", otherwise) : std::string("*");
  };
  const std::string tics =
      shades.log ? log_tics("cb", shades.min.value_or(span.low), shades.max.value_or(span.high))
                 : linear_tics("cb");
  return fmt::format(
      "set palette defined ({})\nset cbrange [{}:{}]\n{} logscale cb\n{}set cblabel {}\n"
      "set colorbox user origin screen {:.5f},screen {:.5f} size screen {:.5f},screen {:.5f} "
      "noborder\n",
      palette, bound(shades.min, bare_low), bound(shades.max, bare_low + 1.0),
      shades.log ? "set" : "unset", tics, plot_text(shades.label), bar.left, bar.bottom,
      bar.right - bar.left, bar.top - bar.bottom);
}

}  // namespace onset::report
