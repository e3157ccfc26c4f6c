#include "tool/options/common_options.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <sstream>

#include "onset/core/context.hpp"
#include "onset/core/error.hpp"
#include "tool/options/option.hpp"

namespace onset::tool {
namespace {

/// Rows of a long result that a terminal is shown.
constexpr std::size_t most_rows = 45;
constexpr std::size_t usual_width = 80;

Format to_format(const std::string& word) {
  if (word == "json") return Format::json;
  if (word == "jsonl") return Format::jsonl;
  return word == "csv" ? Format::csv : Format::table;
}

/// The words between commas.
std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream words(text);
  for (std::string name; std::getline(words, name, ',');) names.push_back(name);
  return names;
}

/// The width of the terminal that stdout is; 0 where it is none.
std::size_t terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1) return 0;
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : usual_width;
}

Parameter format_parameter() {
  Parameter format =
      option("format", ParameterKind::word, std::string("table"),
             "How stdout looks: for people, for programs (all in one object, or an object "
             "per row and line), for spreadsheets.");
  format.words = {"table", "json", "jsonl", "csv"};
  return format;
}

}  // namespace

Parameter help_parameter() {
  return option("help", ParameterKind::flag, false, "This text.");
}

Parameter columns_parameter() {
  return option(
      "columns", ParameterKind::text, {},
      "Columns of the table, by name and parted by commas, or all; else those that fit the "
      "terminal.");
}

std::vector<Parameter> show_parameters() {
  return {format_parameter(), help_parameter()};
}

std::vector<Parameter> common_parameters() {
  Parameter threads =
      option("threads", ParameterKind::integer, static_cast<std::int64_t>(available_threads()),
             "Worker threads; the numbers are the same for any value.");
  threads.min = 1;
  threads.max = 4096;
  Parameter max_seconds =
      option("max-seconds", ParameterKind::real, {},
             "Stop after this time with the rows finished so far (exit code 3).");
  max_seconds.min = 0.0;
  max_seconds.open_min = true;
  Parameter out = option("out", ParameterKind::text, {},
                         "Folder for result.csv, manifest.json, the figure and other files.");
  out.folder = true;
  return {std::move(threads),
          std::move(max_seconds),
          option("explain", ParameterKind::flag, false,
                 "Say the method and the estimated cost; run nothing."),
          format_parameter(),
          columns_parameter(),
          std::move(out),
          option("quiet", ParameterKind::flag, false, "No progress bar and no remarks on stderr."),
          help_parameter()};
}

CommonOptions take_common_options(std::map<std::string, Value>& given) {
  const std::vector<Parameter> known = common_parameters();
  std::map<std::string, Value> mine;
  for (const Parameter& parameter : known) {
    if (auto node = given.extract(parameter.name)) mine.insert(std::move(node));
  }
  const Parameters values = complete(known, mine);
  CommonOptions options;
  options.threads = static_cast<int>(values.integer("threads"));
  if (values.has("max-seconds")) options.max_seconds = values.real("max-seconds");
  options.explain = values.flag("explain");
  options.quiet = values.flag("quiet");
  options.format = to_format(values.text("format"));
  if (values.has("columns")) options.columns = split_names(values.text("columns"));
  if (values.has("out")) {
    options.out = values.text("out");
    if (options.out.empty()) throw InvalidArgument("--out", "is empty; allowed: a folder");
  }
  return options;
}

std::string render(const io::RunRecord& record, Format format,
                   const std::vector<std::string>& columns) {
  switch (format) {
    case Format::table: {
      io::TableLayout layout;
      layout.columns = columns;
      layout.width = terminal_width();
      layout.max_rows = layout.width > 0 ? most_rows : 0;
      layout.how_to_see_columns = "--columns all, or a list of them";
      layout.how_to_see_rows = "--format csv has all, as has result.csv of --out DIR";
      return io::to_table(record.result, layout);
    }
    case Format::json: return io::to_json(record);
    case Format::jsonl: return io::to_json_lines(record.result.table);
    case Format::csv: return io::to_csv(record.result.table);
  }
  return {};
}

std::string render_texts(const io::RunRecord& record, Format format) {
  if (format != Format::table) return render(record, format);
  io::TableLayout layout;
  layout.width = terminal_width() > 0 ? terminal_width() : usual_width;
  return io::to_table(record.result, layout);
}

}  // namespace onset::tool
