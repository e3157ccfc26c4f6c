#include "report/drawing.hpp"

#include <fmt/format.h>

#include <cmath>

#include "io/toml_reader.hpp"
#include "onset/core/error.hpp"
#include "report/overlay.hpp"

namespace onset::report {

using io::complain;

namespace {

bool matches(const Cell& cell, const Value& wanted) {
  if (const auto* text = std::get_if<std::string>(&wanted)) {
    const auto* have = std::get_if<std::string>(&cell);
    return have && *have == *text;
  }
  if (const auto* flag = std::get_if<bool>(&wanted)) {
    const auto* have = std::get_if<bool>(&cell);
    return have && *have == *flag;
  }
  double number = std::nan("");
  if (const auto* whole = std::get_if<std::int64_t>(&wanted)) number = static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&wanted)) number = *real;
  if (const auto* have = std::get_if<std::int64_t>(&cell)) {
    return static_cast<double>(*have) == number;
  }
  const auto* have = std::get_if<double>(&cell);
  return have && *have == number;
}

bool keeps(const Table& table, std::size_t row, const Filter& filter) {
  for (const auto& [name, wanted] : filter) {
    if (!matches(table.at(row, name), wanted)) return false;
  }
  return true;
}

Curve pick_series(const Series& series, const Table& table) {
  Curve curve{{}, series.look, false};
  for (std::size_t row = 0; row < table.rows().size(); ++row) {
    if (!keeps(table, row, series.filter)) continue;
    const Point point{table.number(row, series.x), table.number(row, series.y),
                      table.error(row, series.y)};
    // A threshold that does not exist has no value: nothing to draw.
    if (std::isfinite(point.x) && std::isfinite(point.y)) curve.points.push_back(point);
  }
  return curve;
}

void pick_guides(const Guide& guide, const Table& table, std::vector<GuideLine>& out) {
  for (std::size_t row = 0; row < table.rows().size(); ++row) {
    if (!keeps(table, row, guide.filter)) continue;
    const double x = table.number(row, guide.x);
    if (std::isfinite(x)) out.push_back({x, guide.label});
  }
}

}  // namespace

Drawing make_drawing(const FigureSpec& spec, const FigureData& data,
                     const std::filesystem::path& overlay_folder) {
  Drawing drawing{spec.id, {}, {}};
  for (const Panel& panel : spec.panels) {
    DrawnPanel drawn{panel.title, panel.x, panel.y, panel.key, {}, {}};
    for (const Series& series : panel.series) {
      const Table& table = data.run(series.run).table;
      if (!table.rows().empty()) drawn.curves.push_back(pick_series(series, table));
    }
    for (const Guide& guide : panel.guides) {
      const Table& table = data.run(guide.run).table;
      if (!table.rows().empty()) pick_guides(guide, table, drawn.guides);
    }
    for (const Overlay& overlay : panel.overlays) {
      if (overlay_folder.empty()) continue;
      const std::filesystem::path file = overlay_folder / overlay.file;
      if (std::filesystem::exists(file)) {
        drawn.curves.push_back({read_overlay_points(file, overlay), overlay.look, true});
      } else {
        drawing.notes.push_back(fmt::format("{}: not there, so not drawn", file.string()));
      }
    }
    drawing.panels.push_back(std::move(drawn));
  }
  return drawing;
}

}  // namespace onset::report
