#include <fmt/format.h>

#include <algorithm>

#include "onset/core/error.hpp"
#include "report/gnuplot/gnuplot.hpp"
#include "report/gnuplot/parts.hpp"
#include "report/gnuplot/plot_text.hpp"
#include "report/gnuplot/style.hpp"

namespace onset::report {
namespace {

/// Checks the id, which names files and stands in the script as it is.
void require_plain_id(const std::string& id) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (!id.empty() && std::all_of(id.begin(), id.end(), plain)) return;
  throw InvalidArgument("id", fmt::format("'{}' is no name of a drawing; allowed: letters, digits, "
                                          "'-', '_' and '.'",
                                          id));
}

std::string curve_name(std::size_t panel, std::size_t curve) {
  return fmt::format("$panel{}_curve{}", panel + 1, curve + 1);
}

std::string map_name(std::size_t panel) {
  return fmt::format("$panel{}_map", panel + 1);
}

std::string terminals(const Layout& layout) {
  constexpr double inches_per_pixel = style::column_inches / style::panel_width;
  constexpr double points_per_pixel = 72.0 * inches_per_pixel;
  constexpr double pdf_lines = 2.0;  // pdfcairo draws lines half as wide as the others do
  return fmt::format(
      R"(if (format eq "png") {{
  set terminal pngcairo size {png_width},{png_height} enhanced font "DejaVu Sans,{png_font}" \
    fontscale {scale} linewidth {scale} pointscale {scale} background "#ffffff"
  size = {png_font}
}} else {{ if (format eq "pdf") {{
  set terminal pdfcairo size {pdf_width:.4f}in,{pdf_height:.4f}in enhanced \
    font "DejaVu Sans,{pdf_font:.4f}" fontscale 1 linewidth {pdf_line:.4f} \
    pointscale {pdf_point:.4f} background "#ffffff"
  size = {pdf_font:.4f}
}} else {{
  set terminal svg size {width},{height} enhanced font "Helvetica,{font}" background "#ffffff" \
    dashlength 1.0
  size = {font}
}} }}
)",
      fmt::arg("png_width", style::png_scale * layout.width()),
      fmt::arg("png_height", style::png_scale * layout.height()),
      fmt::arg("png_font", style::dejavu_points * style::font_size),
      fmt::arg("scale", style::png_scale), fmt::arg("pdf_width", inches_per_pixel * layout.width()),
      fmt::arg("pdf_height", inches_per_pixel * layout.height()),
      fmt::arg("pdf_font", points_per_pixel * style::dejavu_points * style::font_size),
      fmt::arg("pdf_line", pdf_lines * points_per_pixel), fmt::arg("pdf_point", points_per_pixel),
      fmt::arg("width", layout.width()), fmt::arg("height", layout.height()),
      fmt::arg("font", style::font_size));
}

std::string header(const Drawing& drawing, const Layout& layout) {
  return fmt::format(R"(# Draws {id}.svg; with -e "format='pdf'" or 'png' draws {id}.pdf, {id}.png.
if (!exists("format")) format = "svg"
set encoding utf8
{terminals}if (!exists("to_stdout")) set output sprintf("{id}.%s", format)

set border 3 front linecolor rgb "{axis}" linewidth 0.8
tic_font = sprintf(",%.4f", {tics} * size)
guide_font = sprintf(",%.4f", {guides} * size)
contour_font = sprintf(",%.4f", {contours} * size)
set tics nomirror out scale 0.5 font tic_font textcolor rgb "{text}"
set xlabel textcolor rgb "{text}" offset 0,0.2
set ylabel textcolor rgb "{text}" offset 0.8,0
set cblabel textcolor rgb "{text}" offset 0.6,0
set cbtics textcolor rgb "{text}" font tic_font nomirror scale 0.5
set key textcolor rgb "{text}" samplen 1.6 spacing 1.15 width -1 Left reverse
set errorbars small
set style textbox opaque fillcolor rgb "#ffffff" noborder margins 0.4,0.2
)",
                     fmt::arg("id", drawing.id), fmt::arg("terminals", terminals(layout)),
                     fmt::arg("axis", style::axis_colour), fmt::arg("text", style::text_colour),
                     fmt::arg("tics", style::tic_scale), fmt::arg("guides", style::guide_scale),
                     fmt::arg("contours", style::contour_scale));
}

std::string data_blocks(const Drawing& drawing) {
  std::string out;
  for (std::size_t p = 0; p < drawing.panels.size(); ++p) {
    const DrawnPanel& panel = drawing.panels[p];
    if (panel.shades) out += "\n" + map_data(map_name(p), panel);
    for (std::size_t c = 0; c < panel.curves.size(); ++c) {
      out += "\n" + curve_data(curve_name(p, c), panel.curves[c], panel);
    }
  }
  return out;
}

std::string guide_command(const GuideLine& guide, bool on_map) {
  const std::string at = fmt::format("{}", guide.at);
  const std::string from = guide.horizontal ? "graph 0,first " + at : at + ",graph 0";
  const std::string to = guide.horizontal ? "graph 1,first " + at : at + ",graph 1";
  std::string out = fmt::format(
      "set arrow from {} to {} nohead front linewidth {} dashtype 3 linecolor rgb \"{}\"\n", from,
      to, on_map ? 1.4 : 0.9, on_map ? style::map_guide_colour : style::guide_colour);
  if (guide.label.empty()) return out;
  // The word stands above a vertical line, and on a horizontal one at its right end.
  const std::string word = guide.horizontal
                               ? fmt::format("graph 0.98,first {} right offset 0,0.45", at)
                               : fmt::format("{},graph 1.03 center", at);
  const bool boxed = on_map && guide.horizontal;
  return out + fmt::format("set label {} at {} front {} font guide_font textcolor rgb \"{}\"\n",
                           plot_text(guide.label), word, boxed ? "boxed" : "",
                           style::soft_text_colour);
}

std::string plot_command(std::size_t index, const DrawnPanel& panel) {
  std::vector<std::string> parts;
  if (panel.shades) add_map(parts, map_name(index), *panel.shades);
  for (std::size_t c = 0; c < panel.curves.size(); ++c) {
    add_curve(parts, curve_name(index, c), panel.curves[c], panel);
  }
  // An empty panel keeps its frame: it says that nothing was found.
  if (parts.empty()) parts.emplace_back("1/0 notitle");
  return fmt::format("plot {}\n", fmt::join(parts, ", \\\n  "));
}

std::string panel_commands(std::size_t index, const Drawing& drawing, const Layout& layout) {
  const DrawnPanel& panel = drawing.panels[index];
  const Box area = layout.plot_area(index);
  std::string out = fmt::format(
      "\n# Panel {}\nset lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\n"
      "set bmargin at screen {:.5f}\nset tmargin at screen {:.5f}\n",
      index + 1, area.left, area.right, area.bottom, area.top);
  out += axis_commands('x', panel) + axis_commands('y', panel);
  out += "unset arrow\nunset label\n";
  for (const GuideLine& guide : panel.guides) {
    out += guide_command(guide, panel.shades.has_value());
  }
  if (!panel.title.empty()) {
    out += fmt::format("set label {} at graph 0,graph 1.095 left textcolor rgb \"{}\"\n",
                       plot_text(panel.title), style::text_colour);
  }
  if (panel.shades) out += map_commands(*panel.shades, layout.colour_bar(index));
  out += layout.key_commands(index);
  return out + plot_command(index, panel);
}

}  // namespace

std::string gnuplot_script(const Drawing& drawing) {
  require_plain_id(drawing.id);
  const Layout layout(drawing);
  std::string out = header(drawing, layout) + data_blocks(drawing) + "\nset multiplot\n";
  for (std::size_t p = 0; p < drawing.panels.size(); ++p) {
    out += panel_commands(p, drawing, layout);
  }
  return out + "\nunset multiplot\n";
}

}  // namespace onset::report
