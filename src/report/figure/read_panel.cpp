#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/printable.hpp"
#include "core/suggestion.hpp"
#include "report/figure/figure_reader.hpp"

namespace onset::report {

using io::complain;
using io::TomlReader;

namespace {

// These are in the order of the enumerations.
const std::vector<std::string> style_words{"line", "dashed", "points", "joined"};
const std::vector<std::string> mark_words{"circle", "square", "triangle", "diamond"};
const std::vector<std::string> colour_words{"black",  "blue",   "vermillion", "green",
                                            "purple", "orange", "sky",        "grey"};
// The first is the default, which is never on top of data.
const std::vector<std::string> key_words{"below",        "top left",     "top right", "bottom left",
                                         "bottom right", "center right", "none"};
const std::vector<std::string> kind_words{"lines", "map"};

using Runs = std::vector<FigureRun>;

Look read_look(const TomlReader& in, LineStyle style) {
  Look look;
  look.label = in.text_or("label", "");
  look.style =
      static_cast<LineStyle>(in.word("style", style_words, static_cast<std::size_t>(style)));
  look.mark = static_cast<Mark>(in.word("mark", mark_words, 0));
  look.colour = static_cast<Colour>(in.word("colour", colour_words, 0));
  return look;
}

/// The id of a run that exists.
std::string read_run_id(const TomlReader& in, const Runs& runs) {
  std::string id = in.text("run");
  std::vector<std::string> known;
  for (const FigureRun& run : runs) known.push_back(run.id);
  if (std::find(known.begin(), known.end(), id) == known.end()) {
    complain(in.place_of("run"), fmt::format("there is no run '{}'{}", id, suggestion(id, known)));
  }
  return id;
}

/// A list of strings; one string stands for a list of one.
std::vector<std::string> read_texts(const TomlReader& in, std::string_view key) {
  if (!in.has(key)) return {};
  if (!in.is_list(key)) return {in.text(key)};
  std::vector<std::string> out;
  for (const TomlReader::Item& item : in.items(key)) {
    const auto* text = std::get_if<std::string>(&item.value);
    if (!text) complain(item.place, fmt::format("'{}' must be a list of strings", key));
    out.push_back(*text);
  }
  return out;
}

/// What x is multiplied by.
double read_factor(const TomlReader& in) {
  const double factor = in.number("x_times").value_or(1.0);
  if (std::isfinite(factor) && factor != 0.0) return factor;
  complain(in.place_of("x_times"), "'x_times' must be a finite number other than 0");
}

Series read_series(const TomlReader& in, const Runs& runs) {
  in.allow_only({"run", "x", "x_over", "x_times", "y", "filter", "group", "average", "label",
                 "style", "mark", "colour"});
  if (in.has("group") && in.has("mark") && !in.has("colour")) {
    complain(in.place_of("mark"), "the curves of a group choose their own marks");
  }
  return {read_run_id(in, runs),
          in.text("x"),
          in.text("y"),
          in.values("filter"),
          read_texts(in, "group"),
          read_look(in, LineStyle::line),
          in.place(),
          in.text_or("x_over", ""),
          in.has("group") && in.has("colour"),
          read_factor(in),
          read_texts(in, "average")};
}

void read_contours(const TomlReader& in, Map& map) {
  if (!in.has("contours")) return;
  if (in.is_list("contours") || in.is_text("contours")) {
    map.contours = in.grid("contours");
    for (const double level : map.contours) {
      if (!std::isfinite(level)) complain(in.place_of("contours"), "a level must be finite");
    }
    return;
  }
  constexpr double most = 50;
  const double count = *in.number("contours");
  if (!(count >= 1 && count <= most) || count != std::floor(count)) {
    complain(in.place_of("contours"),
             fmt::format("'contours' must be a list of levels or how many, 1 to {}", most));
  }
  map.contour_count = static_cast<int>(count);
}

/// A number that can be drawn at: TOML has nan and inf as well.
std::optional<double> read_finite(const TomlReader& in, std::string_view key) {
  const std::optional<double> value = in.number(key);
  if (value && !std::isfinite(*value)) {
    complain(in.place_of(key), fmt::format("'{}' must be a finite number", key));
  }
  return value;
}

void check_bounds(const TomlReader& in, const std::optional<double>& min,
                  const std::optional<double>& max, bool log) {
  if (min && max && !(*min < *max)) complain(in.place_of("max"), "'max' must be above 'min'");
  if (log && min && *min <= 0.0)
    complain(in.place_of("min"), "'min' of a log axis must be above 0");
  if (log && max && *max <= 0.0)
    complain(in.place_of("max"), "'max' of a log axis must be above 0");
}

Map read_map(const TomlReader& in, const Runs& runs) {
  in.allow_only(
      {"run", "x", "y", "z", "filter", "label", "min", "max", "log", "contours", "words"});
  Map map;
  map.run = read_run_id(in, runs);
  map.x = in.text("x");
  map.y = in.text("y");
  map.z = in.text("z");
  map.filter = in.values("filter");
  map.label = in.text_or("label", map.z);
  map.min = read_finite(in, "min");
  map.max = read_finite(in, "max");
  map.log = in.flag("log");
  check_bounds(in, map.min, map.max, map.log);
  read_contours(in, map);
  map.words = read_texts(in, "words");
  map.place = in.place();
  return map;
}

Guide read_guide(const TomlReader& in, const Runs& runs) {
  in.allow_only({"run", "x", "filter", "label"});
  return {read_run_id(in, runs), in.text("x"), in.values("filter"), in.text_or("label", ""),
          in.place()};
}

FixedLine read_line(const TomlReader& in) {
  in.allow_only({"x", "y", "label"});
  FixedLine line{read_finite(in, "x"), read_finite(in, "y"), in.text_or("label", "")};
  if (line.x.has_value() == line.y.has_value()) {
    complain(in.place(), "a line needs x (it is vertical) or y (horizontal), one of them");
  }
  return line;
}

/// The name of a file in the folder of overlays or below it, and nowhere else.
std::string read_overlay_file(const TomlReader& in) {
  std::string name = in.text("file");
  const std::filesystem::path path = name;
  const bool leaves = path.is_absolute() || std::ranges::find(path, "..") != path.end();
  if (leaves || name.empty()) {
    complain(in.place_of("file"), fmt::format("{} is no file in the folder of --overlay; allowed: "
                                              "a name below it, without '..'",
                                              in_quotes(name)));
  }
  return name;
}

Overlay read_overlay(const TomlReader& in) {
  in.allow_only({"file", "x", "x_times", "y", "error", "label", "mark", "colour"});
  return {read_overlay_file(in),
          in.text("x"),
          in.text("y"),
          in.text_or("error", ""),
          read_look(in, LineStyle::points),
          in.place(),
          read_factor(in)};
}

PlotAxis read_plot_axis(const TomlReader& panel, std::string_view key) {
  const std::optional<TomlReader> in = panel.table(key);
  if (!in) complain(panel.place(), fmt::format("'{}' is missing here", key));
  in->allow_only({"label", "min", "max", "log"});
  PlotAxis axis{in->text("label"), read_finite(*in, "min"), read_finite(*in, "max"),
                in->flag("log")};
  check_bounds(*in, axis.min, axis.max, axis.log);
  return axis;
}

/// Reads the kind of a panel: one of kind "map" has one [panel.map], and no other panel has any.
void read_kind(const TomlReader& in, const Runs& runs, Panel& panel) {
  const bool wants_map = in.word("kind", kind_words, 0) == 1;
  const std::optional<TomlReader> map = in.table("map");
  if (wants_map && !map) complain(in.place(), "a panel of kind \"map\" needs a [panel.map]");
  if (map && !wants_map) complain(map->place(), "a [panel.map] needs kind = \"map\" in its panel");
  if (map) panel.map = read_map(*map, runs);
}

}  // namespace

Panel read_panel(const TomlReader& in, const Runs& runs) {
  in.allow_only({"title", "kind", "x", "y", "key", "map", "series", "guide", "line", "overlay"});
  Panel panel;
  read_kind(in, runs, panel);
  panel.title = in.text_or("title", "");
  panel.x = read_plot_axis(in, "x");
  panel.y = read_plot_axis(in, "y");
  panel.key = key_words[in.word("key", key_words, 0)];
  for (const TomlReader& item : in.tables("series")) {
    panel.series.push_back(read_series(item, runs));
  }
  for (const TomlReader& item : in.tables("guide")) panel.guides.push_back(read_guide(item, runs));
  for (const TomlReader& item : in.tables("line")) panel.lines.push_back(read_line(item));
  for (const TomlReader& item : in.tables("overlay")) panel.overlays.push_back(read_overlay(item));
  if (!panel.map && panel.series.empty()) complain(in.place(), "a panel needs a [[panel.series]]");
  return panel;
}

}  // namespace onset::report
