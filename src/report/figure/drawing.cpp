#include "report/figure/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/file_status.hpp"
#include "report/figure/average_repeats.hpp"
#include "report/figure/overlay.hpp"
#include "report/figure/pick.hpp"

namespace onset::report {
namespace {

GuideLine fixed_line(const FixedLine& line) {
  return {line.y.has_value(), line.y ? *line.y : *line.x, line.label};
}

void add_overlays(const Panel& panel, const std::filesystem::path& folder, DrawnPanel& drawn,
                  std::vector<std::string>& notes) {
  if (folder.empty()) return;
  for (const Overlay& overlay : panel.overlays) {
    const std::filesystem::path file = folder / overlay.file;
    if (io::is_there(file)) {
      drawn.curves.push_back({read_overlay_points(file, overlay), overlay.look, true});
    } else {
      notes.push_back(fmt::format("{}: not there, so not drawn", file.string()));
    }
  }
}

/// The runs that a panel draws, each once.
std::vector<std::string> runs_of(const Panel& panel) {
  std::vector<std::string> runs;
  const auto add = [&runs](const std::string& run) {
    if (std::find(runs.begin(), runs.end(), run) == runs.end()) runs.push_back(run);
  };
  if (panel.map) add(panel.map->run);
  for (const Series& series : panel.series) add(series.run);
  return runs;
}

/// Adds a note about a panel that is an empty frame.
void add_note_if_empty(std::size_t index, const Panel& panel, const DrawnPanel& drawn,
                       std::vector<std::string>& notes) {
  const bool has_points = std::any_of(drawn.curves.begin(), drawn.curves.end(),
                                      [](const Curve& curve) { return !curve.points.empty(); });
  const bool has_map = drawn.shades && std::any_of(drawn.shades->z.begin(), drawn.shades->z.end(),
                                                   [](double z) { return std::isfinite(z); });
  if (has_points || has_map) return;
  notes.push_back(fmt::format("panel {} is empty: nothing to draw in run {}", index + 1,
                              fmt::join(runs_of(panel), ", ")));
}

/// The curves of a series, of means over repeats where it has some.
std::vector<Curve> series_curves(const Series& series, const Table& table) {
  if (series.average.empty()) return pick_curves(series, table);
  std::vector<std::string> apart = series.group;
  apart.push_back(series.x);
  for (const auto& [name, value] : series.filter) apart.push_back(name);
  return pick_curves(series, average_repeats(table, apart, series.average));
}

DrawnPanel draw_panel(const Panel& panel, const FigureData& data) {
  DrawnPanel drawn{panel.title, panel.x, panel.y, panel.key, {}, {}, {}};
  // A run without rows may lack the columns that depend on its parameters, and has nothing to draw.
  const auto rows_of = [&data](const std::string& run) -> const Table* {
    const Table& table = data.run(run).table;
    return table.rows().empty() ? nullptr : &table;
  };
  if (panel.map) {
    if (const Table* table = rows_of(panel.map->run)) {
      drawn.shades = pick_shades(*panel.map, *table);
    }
  }
  for (const Series& series : panel.series) {
    if (const Table* table = rows_of(series.run)) {
      for (Curve& curve : series_curves(series, *table)) drawn.curves.push_back(std::move(curve));
    }
  }
  for (const Guide& guide : panel.guides) {
    if (const Table* table = rows_of(guide.run)) {
      for (GuideLine& line : pick_guides(guide, *table)) drawn.guides.push_back(std::move(line));
    }
  }
  for (const FixedLine& line : panel.lines) drawn.guides.push_back(fixed_line(line));
  return drawn;
}

}  // namespace

Drawing make_drawing(const FigureSpec& spec, const FigureData& data,
                     const std::filesystem::path& overlay_folder) {
  Drawing drawing{spec.id, {}, {}};
  for (std::size_t i = 0; i < spec.panels.size(); ++i) {
    const Panel& panel = spec.panels[i];
    drawing.panels.push_back(draw_panel(panel, data));
    add_overlays(panel, overlay_folder, drawing.panels.back(), drawing.notes);
    add_note_if_empty(i, panel, drawing.panels.back(), drawing.notes);
  }
  return drawing;
}

}  // namespace onset::report
