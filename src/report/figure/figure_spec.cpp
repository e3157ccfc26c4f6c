#include "report/figure_spec.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/read_file.hpp"
#include "onset/core/error.hpp"
#include "report/figure/figure_reader.hpp"

namespace onset::report {

using io::complain;
using io::TomlReader;

namespace {

void add_run(FigureSpec& spec, FigureRun run) {
  for (const FigureRun& other : spec.runs) {
    if (other.id == run.id) complain(run.study.place, fmt::format("a second run '{}'", run.id));
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
  return read_spec(TomlReader(text, file.string()), file);
}

FigureSpec read_figure(const std::filesystem::path& file) {
  return parse_figure(io::read_file(file), file);
}

void drop_published(FigureSpec& spec) {
  const auto is_published = [&spec](const auto& use) {
    return std::any_of(spec.runs.begin(), spec.runs.end(), [&use](const FigureRun& run) {
      return run.as_published && run.id == use.run;
    });
  };
  for (Panel& panel : spec.panels) {
    std::erase_if(panel.series, is_published);
    std::erase_if(panel.guides, is_published);
  }
  std::erase_if(spec.runs, [](const FigureRun& run) { return run.as_published; });
}

}  // namespace onset::report
