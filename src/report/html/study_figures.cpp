#include <fmt/format.h>

#include <algorithm>

#include "onset/core/error.hpp"
#include "report/figure/default_drawing.hpp"
#include "report/gnuplot/gnuplot.hpp"
#include "report/html/check_stop.hpp"
#include "report/html/inline_svg.hpp"
#include "report/html/study_view.hpp"
#include "report/html/text.hpp"

namespace onset::report::html {
namespace {

std::string one_figure(const Drawing& drawing, std::size_t index, const std::string& what,
                       const std::stop_token& stop) {
  // Each panel is a picture of its own, so that they flow with the width of the page.
  const Drawing alone{drawing.id, {drawing.panels[index]}, {}};
  const std::string prefix = fmt::format("{}-{}-", drawing.id, index + 1);
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n",
                     inline_svg(run_gnuplot(gnuplot_script(alone), "svg", stop), prefix, what),
                     escape(what));
}

std::string caption(const Drawing& drawing, std::size_t index, const std::string& command) {
  const DrawnPanel& panel = drawing.panels[index];
  const auto plain = [](std::string text) {  // removes the escapes of markup
    std::erase(text, '\\');
    return text;
  };
  if (panel.shades) {
    return fmt::format("{}: {} over {} and {}.", command, plain(panel.shades->label),
                       plain(panel.x.label), plain(panel.y.label));
  }
  return fmt::format("{}: {} against {}; bars and bands are one standard error.", command,
                     plain(panel.y.label), plain(panel.x.label));
}

}  // namespace

std::vector<std::string> axis_columns(const StudyView& view) {
  std::vector<std::string> out;
  for (const std::string& axis : view.study.axes) {
    const std::string other = "axis_" + axis;
    const auto& columns = view.table.columns();
    const bool renamed = std::any_of(columns.begin(), columns.end(),
                                     [&](const Column& column) { return column.name == other; });
    out.push_back(renamed ? other : axis);
  }
  return out;
}

std::string figures_part(const StudyView& view, const PageFacts& facts) {
  const Plottable plottable{&view.drawn, view.verb ? view.verb->primary : "", axis_columns(view)};
  const auto drawing = default_drawing("figure-" + id_text(view.study.name), plottable);
  if (!drawing) return {};
  std::string out = "<h3>Figures</h3>\n<div class=\"figures\">\n";
  try {
    for (std::size_t i = 0; i < drawing->panels.size(); ++i) {
      check_stop(facts.stop);
      out += one_figure(*drawing, i, caption(*drawing, i, view.study.command), facts.stop);
    }
  } catch (const IoError& error) {
    // The numbers are worth having without their pictures.
    return fmt::format("<h3>Figures</h3>\n<p class=\"note\">Not drawn: {}</p>\n",
                       escape(error.what()));
  }
  out += "</div>\n";
  if (!view.thinned.empty()) {
    out += element("p", "Drawn are " + view.thinned + ".", "note") + "\n";
  }
  for (const std::string& note : drawing->notes) out += element("p", note, "note") + "\n";
  return out;
}

}  // namespace onset::report::html
