#include "onset/report/figure_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "io/toml_reader.hpp"
#include "onset/core/error.hpp"
#include "onset/core/words.hpp"

namespace onset::report {

using io::complain;
using io::TomlReader;

namespace {

// In the order of the enumerations.
const std::vector<std::string> style_words{"line", "dashed", "points", "joined"};
const std::vector<std::string> mark_words{"circle", "square", "triangle", "diamond"};
const std::vector<std::string> colour_words{"black",  "blue",   "vermillion", "green",
                                            "purple", "orange", "sky",        "grey"};
// The first is the default: never on top of data.
const std::vector<std::string> key_words{"below",        "top left",     "top right", "bottom left",
                                         "bottom right", "center right", "none"};

/// Ids become file names, so only plain characters.
bool is_plain_name(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), plain);
}

std::optional<RunAxis> read_axis(const TomlReader& run) {
  const std::optional<TomlReader> in = run.table("axis");
  if (!in) return std::nullopt;
  in->allow_only({"parameter", "values", "quick"});
  RunAxis axis{in->text("parameter"), in->grid("values"), in->grid("quick")};
  if (axis.values.empty()) complain(in->place(), "'values' is missing or empty");
  return axis;
}

FigureRun read_run(const TomlReader& in) {
  in.allow_only({"id", "command", "fixed", "quick", "axis"});
  FigureRun run;
  run.place = in.place();
  run.id = in.text("id");
  if (!is_plain_name(run.id)) {
    complain(in.place_of("id"), "an id has letters, digits, '-' and '_' only");
  }
  const std::string command = in.text("command");
  const std::size_t space = command.find(' ');
  if (space == std::string::npos) {
    complain(in.place_of("command"), "'command' must be \"family verb\", say \"smi curve\"");
  }
  run.family = command.substr(0, space);
  run.verb = command.substr(space + 1);
  run.fixed = in.values("fixed");
  run.quick = in.values("quick");
  run.axis = read_axis(in);
  return run;
}

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
std::string read_run_id(const TomlReader& in, const std::vector<FigureRun>& runs) {
  std::string id = in.text("run");
  std::vector<std::string> known;
  for (const FigureRun& run : runs) known.push_back(run.id);
  if (std::find(known.begin(), known.end(), id) == known.end()) {
    complain(in.place_of("run"), fmt::format("there is no run '{}'{}", id, suggestion(id, known)));
  }
  return id;
}

Series read_series(const TomlReader& in, const std::vector<FigureRun>& runs) {
  in.allow_only({"run", "x", "y", "filter", "label", "style", "mark", "colour"});
  return {read_run_id(in, runs),          in.text("x"), in.text("y"), in.values("filter"),
          read_look(in, LineStyle::line), in.place()};
}

Guide read_guide(const TomlReader& in, const std::vector<FigureRun>& runs) {
  in.allow_only({"run", "x", "filter", "label"});
  return {read_run_id(in, runs), in.text("x"), in.values("filter"), in.text_or("label", ""),
          in.place()};
}

Overlay read_overlay(const TomlReader& in) {
  in.allow_only({"file", "x", "y", "error", "label", "mark", "colour"});
  return {in.text("file"),
          in.text("x"),
          in.text("y"),
          in.text_or("error", ""),
          read_look(in, LineStyle::points),
          in.place()};
}

PlotAxis read_plot_axis(const TomlReader& panel, std::string_view key) {
  const std::optional<TomlReader> in = panel.table(key);
  if (!in) complain(panel.place(), fmt::format("'{}' is missing here", key));
  in->allow_only({"label", "min", "max", "log"});
  PlotAxis axis{in->text("label"), in->number("min"), in->number("max"), in->flag("log")};
  if (axis.min && axis.max && !(*axis.min < *axis.max)) {
    complain(in->place_of("max"), "'max' must be above 'min'");
  }
  return axis;
}

Panel read_panel(const TomlReader& in, const std::vector<FigureRun>& runs) {
  in.allow_only({"title", "x", "y", "key", "series", "guide", "overlay"});
  Panel panel;
  panel.title = in.text_or("title", "");
  panel.x = read_plot_axis(in, "x");
  panel.y = read_plot_axis(in, "y");
  panel.key = key_words[in.word("key", key_words, 0)];
  for (const TomlReader& item : in.tables("series")) {
    panel.series.push_back(read_series(item, runs));
  }
  for (const TomlReader& item : in.tables("guide")) panel.guides.push_back(read_guide(item, runs));
  for (const TomlReader& item : in.tables("overlay")) panel.overlays.push_back(read_overlay(item));
  if (panel.series.empty()) complain(in.place(), "a panel needs a [[panel.series]]");
  return panel;
}

void add_run(FigureSpec& spec, FigureRun run) {
  for (const FigureRun& other : spec.runs) {
    if (other.id == run.id) complain(run.place, fmt::format("a second run '{}'", run.id));
  }
  spec.runs.push_back(std::move(run));
}

FigureSpec read_spec(const TomlReader& in, const std::filesystem::path& file) {
  in.allow_only({"title", "caption", "run", "panel"});
  FigureSpec spec;
  spec.id = file.stem().string();
  if (!is_plain_name(spec.id)) {
    complain(in.place(), "the name of a figure file has letters, digits, '-' and '_' only");
  }
  spec.title = in.text("title");
  spec.caption = in.text_or("caption", "");
  for (const TomlReader& item : in.tables("run")) add_run(spec, read_run(item));
  for (const TomlReader& item : in.tables("panel")) {
    spec.panels.push_back(read_panel(item, spec.runs));
  }
  if (spec.panels.empty()) complain(in.place(), "a figure needs a [[panel]]");
  return spec;
}

}  // namespace

FigureSpec parse_figure(std::string_view text, const std::filesystem::path& file) {
  try {
    const toml::table table = toml::parse(text, file.string());
    return read_spec(TomlReader(table, file.string()), file);
  } catch (const toml::parse_error& error) {
    const toml::source_position& at = error.source().begin;
    complain({file.string(), at.line, at.column}, std::string(error.description()));
  }
}

FigureSpec read_figure(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw IoError(file.string(), "cannot be opened");
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw IoError(file.string(), "cannot be read");
  return parse_figure(text.str(), file);
}

}  // namespace onset::report
