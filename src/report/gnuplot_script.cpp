#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/gnuplot.hpp"

namespace onset::report {
namespace {

// Pixels of the SVG; the PNG has twice as many. 480 wide for one panel is a journal's column.
constexpr int panel_width = 480;
constexpr int figure_height = 390;
constexpr int png_scale = 2;
constexpr int font_size = 13;
// Room around each panel for tics and labels, in pixels.
constexpr int left_margin = 68;
constexpr int right_margin = 18;
constexpr int top_margin = 46;
constexpr int bottom_margin = 56;
// More room at the bottom when a key lies there: three rows of it.
constexpr int key_height = 62;

constexpr std::string_view axis_colour = "#8a8a8a";
constexpr std::string_view text_colour = "#222222";
constexpr std::string_view guide_colour = "#b5b5b5";
constexpr double band_opacity = 0.25;

/// In the order of Colour.
constexpr std::array<std::string_view, 8> colours{"#000000", "#0072B2", "#D55E00", "#009E73",
                                                  "#CC79A7", "#E69F00", "#56B4E9", "#777777"};

bool key_is_below(const DrawnPanel& panel) {
  return panel.key == "below";
}

/// What the panels need at the bottom; the same for all, so that their axes align.
int bottom_of(const Drawing& drawing) {
  const bool below = std::any_of(drawing.panels.begin(), drawing.panels.end(), key_is_below);
  return bottom_margin + (below ? key_height : 0);
}

int height_of(const Drawing& drawing) {
  return figure_height + bottom_of(drawing) - bottom_margin;
}

std::string_view colour_of(const Look& look) {
  return colours.at(static_cast<std::size_t>(look.colour));
}

/// gnuplot's numbers of the marks, in the order of Mark: filled, hollow.
int mark_of(const Look& look, bool hollow) {
  constexpr std::array<int, 4> filled{7, 5, 9, 13};
  return filled.at(static_cast<std::size_t>(look.mark)) - (hollow ? 1 : 0);
}

/// Single quotes: inside them gnuplot runs no commands and knows no escapes.
std::string plot_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

std::string bound(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : std::string("*");
}

std::string data_name(std::size_t panel, std::size_t curve) {
  return fmt::format("$panel{}_curve{}", panel + 1, curve + 1);
}

std::string data_block(std::size_t panel, std::size_t index, const Curve& curve) {
  std::string out = fmt::format("# {}\n{} << END\n", curve.look.label, data_name(panel, index));
  for (const Point& point : curve.points) {
    out +=
        fmt::format("{} {} {}\n", point.x, point.y, std::isfinite(point.error) ? point.error : 0.0);
  }
  return out + "END\n";
}

std::string header(const Drawing& drawing) {
  const int width = panel_width * static_cast<int>(drawing.panels.size());
  return fmt::format(R"(# Draws {id}.svg; with -e "format='png'" draws {id}.png.
if (!exists("format")) format = "svg"
set encoding utf8
if (format eq "png") {{
  set terminal pngcairo size {png_width},{png_height} enhanced font "DejaVu Sans,{png_font}" \
    fontscale {scale} linewidth {scale} pointscale {scale} background "#ffffff"
}} else {{
  set terminal svg size {width},{height} enhanced font "Helvetica,{font}" background "#ffffff" \
    dashlength 1.0
}}
set output sprintf("{id}.%s", format)

set border 3 linecolor rgb "{axis}" linewidth 0.8
set tics nomirror out scale 0.5 textcolor rgb "{text}"
set mxtics 2
set mytics 2
set format x "%g"
set format y "%g"
set xlabel textcolor rgb "{text}" offset 0,0.2
set ylabel textcolor rgb "{text}" offset 0.8,0
set key textcolor rgb "{text}" samplen 1.6 spacing 1.15 width -1 Left reverse
set errorbars small
set style fill transparent solid {band} noborder
)",
                     fmt::arg("id", drawing.id), fmt::arg("png_width", png_scale * width),
                     fmt::arg("png_height", png_scale * height_of(drawing)),
                     // DejaVu is wide: one size smaller is as large to the eye.
                     fmt::arg("png_font", font_size - 3), fmt::arg("scale", png_scale),
                     fmt::arg("width", width), fmt::arg("height", height_of(drawing)),
                     fmt::arg("font", font_size), fmt::arg("axis", axis_colour),
                     fmt::arg("text", text_colour), fmt::arg("band", band_opacity));
}

std::string margins(std::size_t index, const Drawing& drawing) {
  const double width = panel_width * static_cast<double>(drawing.panels.size());
  const double height = height_of(drawing);
  const double start = panel_width * static_cast<double>(index);
  return fmt::format(
      "set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\n"
      "set bmargin at screen {:.5f}\nset tmargin at screen {:.5f}\n",
      (start + left_margin) / width, (start + panel_width - right_margin) / width,
      bottom_of(drawing) / height, 1.0 - top_margin / height);
}

std::string key_commands(std::size_t index, const Drawing& drawing) {
  const DrawnPanel& panel = drawing.panels[index];
  if (panel.key == "none") return "unset key\n";
  if (!key_is_below(panel)) return fmt::format("set key on inside vertical {}\n", panel.key);
  const double middle =
      panel_width * (static_cast<double>(index) + 0.5) + 0.5 * (left_margin - right_margin);
  return fmt::format("set key on at screen {:.5f},screen {:.5f} center top horizontal maxcols 3\n",
                     middle / (panel_width * static_cast<double>(drawing.panels.size())),
                     static_cast<double>(key_height) / height_of(drawing));
}

std::string axis_commands(char name, const PlotAxis& axis) {
  return fmt::format("set {0}label {1}\nset {0}range [{2}:{3}]\n{4} logscale {0}\n", name,
                     plot_text(axis.label), bound(axis.min), bound(axis.max),
                     axis.log ? "set" : "unset");
}

std::string guide_commands(const std::vector<GuideLine>& guides) {
  std::string out = "unset arrow\nunset label\n";
  for (const GuideLine& guide : guides) {
    out += fmt::format(
        "set arrow from {0},graph 0 to {0},graph 1 nohead back linewidth 0.9 dashtype 3 "
        "linecolor rgb \"{1}\"\n",
        guide.x, guide_colour);
    out +=
        fmt::format("set label {} at {},graph 1.03 center font \",{}\" textcolor rgb \"#666666\"\n",
                    plot_text(guide.label), guide.x, font_size - 4);
  }
  return out;
}

std::string title_of(const Curve& curve) {
  return curve.look.label.empty() ? std::string("notitle") : "title " + plot_text(curve.look.label);
}

bool has_errors(const Curve& curve) {
  return std::any_of(curve.points.begin(), curve.points.end(),
                     [](const Point& point) { return point.error > 0.0; });
}

void add_lines(std::vector<std::string>& parts, const std::string& data, const Curve& curve) {
  const std::string_view colour = colour_of(curve.look);
  if (has_errors(curve)) {
    parts.push_back(fmt::format(
        "{} using 1:($2-$3):($2+$3) with filledcurves linecolor rgb \"{}\" notitle", data, colour));
  }
  parts.push_back(
      fmt::format("{} using 1:2 with lines linewidth 2 dashtype {} linecolor rgb \"{}\" {}", data,
                  curve.look.style == LineStyle::dashed ? "(8,5)" : "1", colour, title_of(curve)));
}

void add_marks(std::vector<std::string>& parts, const std::string& data, const Curve& curve) {
  const std::string_view colour = colour_of(curve.look);
  if (curve.look.style == LineStyle::joined) {
    parts.push_back(fmt::format("{} using 1:2 with lines linewidth 1 linecolor rgb \"{}\" notitle",
                                data, colour));
  }
  // Errors smaller than a mark are still drawn; the script has them for who wants to look closer.
  if (has_errors(curve)) {
    parts.push_back(fmt::format(
        "{} using 1:2:3 with yerrorbars pointtype 0 linewidth 1.2 linecolor rgb \"{}\" notitle",
        data, colour));
  }
  parts.push_back(fmt::format(
      "{} using 1:2 with points pointtype {} pointsize {} linewidth 1.1 linecolor rgb \"{}\" {}",
      data, mark_of(curve.look, curve.hollow), curve.hollow ? 0.75 : 0.7, colour, title_of(curve)));
}

std::string plot_command(std::size_t index, const DrawnPanel& panel) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < panel.curves.size(); ++i) {
    const Curve& curve = panel.curves[i];
    if (curve.points.empty()) continue;
    const bool marks = curve.hollow || curve.look.style == LineStyle::points ||
                       curve.look.style == LineStyle::joined;
    (marks ? add_marks : add_lines)(parts, data_name(index, i), curve);
  }
  // An empty panel keeps its frame: it says that nothing was found.
  if (parts.empty()) parts.emplace_back("1/0 notitle");
  return fmt::format("plot {}\n", fmt::join(parts, ", \\\n  "));
}

std::string panel_commands(std::size_t index, const Drawing& drawing) {
  const DrawnPanel& panel = drawing.panels[index];
  std::string out = fmt::format("\n# Panel {}\n", index + 1) + margins(index, drawing);
  out += axis_commands('x', panel.x) + axis_commands('y', panel.y);
  out += guide_commands(panel.guides);
  if (!panel.title.empty()) {
    out += fmt::format("set label {} at graph 0,graph 1.095 left textcolor rgb \"{}\"\n",
                       plot_text(panel.title), text_colour);
  }
  out += key_commands(index, drawing);
  return out + plot_command(index, panel);
}

}  // namespace

std::string gnuplot_script(const Drawing& drawing) {
  std::string out = header(drawing);
  for (std::size_t p = 0; p < drawing.panels.size(); ++p) {
    const std::vector<Curve>& curves = drawing.panels[p].curves;
    for (std::size_t c = 0; c < curves.size(); ++c) out += "\n" + data_block(p, c, curves[c]);
  }
  out += "\nset multiplot\n";
  for (std::size_t p = 0; p < drawing.panels.size(); ++p) {
    out += panel_commands(p, drawing);
  }
  return out + "\nunset multiplot\n";
}

}  // namespace onset::report
