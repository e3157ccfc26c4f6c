#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "core/field_names.hpp"
#include "core/printable.hpp"
#include "io/file_status.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/catalog.hpp"
#include "onset/core/error.hpp"
#include "report/figure.hpp"
#include "tool/commands/commands.hpp"
#include "tool/commands/help.hpp"
#include "tool/data_folder.hpp"
#include "tool/exit_codes.hpp"
#include "tool/options/common_options.hpp"
#include "tool/options/option.hpp"
#include "tool/output.hpp"
#include "tool/run_context.hpp"
#include "tool/sweep/process_workers.hpp"

namespace onset::tool {
/// Its own options, and those common ones that make sense for a figure.
std::vector<Parameter> figure_parameters() {
  std::vector<Parameter> options{
      option("quick", ParameterKind::flag, false, "Fewer points: a first look in a minute or so."),
      option("full", ParameterKind::flag, false,
             "The full size, which may take hours, where the usual one is reduced."),
      option("as-published", ParameterKind::flag, false,
             "Also compute and draw the published variant, where it differs."),
      option("dry-run", ParameterKind::flag, false, "The same as --explain."),
      option("retry", ParameterKind::flag, false,
             "Compute again the points that failed, were refused or did not converge."),
      option("store", ParameterKind::text, {},
             "A store that has points of the figure, say of a sweep: only what it lacks is "
             "computed. It is not written."),
      option("overlay", ParameterKind::text, {},
             "Folder with the authors' CSV files, drawn as hollow marks."),
      option("seed", ParameterKind::integer, std::int64_t{1}, "Seed of the random streams."),
  };
  options.back().min = 0.0;
  for (Parameter& parameter : common_parameters()) {
    if (parameter.name == "out") {
      parameter.text = "Folder for pictures, data and manifest; onset-out/ID by default.";
    }
    const std::string& name = parameter.name;
    if (name != "format" && name != "columns") {
      options.push_back(std::move(parameter));
    }
  }
  return options;
}

namespace {

std::vector<std::filesystem::path> figure_folders() {
  const std::filesystem::path data = data_folder();
  if (data.empty()) {
    throw IoError("share/onset",
                  "the data folder was not found beside the program; set ONSET_DATA to it");
  }
  return {data / "figures"};
}

/// Two digits in a unit that people think in.
std::string time_text(double core_seconds) {
  constexpr double minute = 60.0, hour = 3600.0;
  if (core_seconds >= hour) return fmt::format("{:.2g} h", core_seconds / hour);
  if (core_seconds >= minute) return fmt::format("{:.2g} min", core_seconds / minute);
  return fmt::format("{:.2g} s", std::max(core_seconds, 1.0));
}

/// The estimated work of a figure on one core; empty where a file that it needs is not there, or
/// its parameters are wrong, which whoever draws it is told.
std::string figure_time(report::FigureSpec spec, const report::FigureOptions& options) {
  report::drop_published(spec);
  double sum = 0.0;
  try {
    for (const auto& cost : report::figure_costs(spec, catalog(), options)) {
      sum += cost.core_seconds;
    }
  } catch (const IoError&) {
    return {};
  } catch (const InvalidArgument&) {
    return {};
  }
  return time_text(sum);
}

/// Whether a shell, to which a name may be offered, finds nothing in it but a word.
bool is_plain_word(const std::string& name) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !name.empty() && name[0] != '-' && name.find_first_not_of(letters) == std::string::npos;
}

/// For completion. Figures of other names are drawn all the same, and `figure list` has them.
int list_names() {
  std::string out;
  for (const std::filesystem::path& file : report::list_figures(figure_folders())) {
    const std::string name = file.stem().string();
    if (is_plain_word(name)) out += name + "\n";
  }
  write_stdout(out);
  return exit_ok;
}

/// Names, estimated times (on one core, and with --quick) and titles.
int list_all() {
  io::RunRecord record;
  record.result.table = Table({{"figure", "", "", false},
                               {"time", "", "", false},
                               {"quick", "", "", false},
                               {"title", "", "", false}});
  report::FigureOptions quick;
  quick.quick = true;
  for (const std::filesystem::path& file : report::list_figures(figure_folders())) {
    const report::FigureSpec spec = report::read_figure(file);
    record.result.table.add_row(
        {spec.id, figure_time(spec, {}), figure_time(spec, quick), spec.title});
  }
  record.result.notes = {"Times are estimates of the work on one core, quick ones with --quick."};
  write_stdout(render_texts(record, Format::table));
  return exit_ok;
}

/// What a figure shows and will take.
int explain_figure(const report::FigureSpec& spec, const report::FigureOptions& options) {
  io::RunRecord record;
  record.result.table = Table({{"run", "", "", false},
                               {"command", "", "", false},
                               {"points", "", "", false},
                               {"time", "", "", false}});
  double sum = 0.0;
  for (const report::RunCost& cost : report::figure_costs(spec, catalog(), options)) {
    record.result.table.add_row({cost.id, cost.command, static_cast<std::int64_t>(cost.points),
                                 time_text(cost.core_seconds)});
    sum += cost.core_seconds;
  }
  write_stdout(fmt::format(
      "{}: {}\n\n{}\n\n{}\nEstimated work on one core: {}. Nothing was computed.\n",
      one_line(spec.id, all_of_it), one_line(spec.title, all_of_it),
      printable(spec.caption, all_of_it), render_texts(record, Format::table), time_text(sum)));
  return exit_ok;
}

/// Reports every run that is not as it should be, before its numbers are drawn.
void say_problems(const report::FigureData& data) {
  for (const report::RunData& run : data.runs) {
    if (run.status == ResultStatus::ok) continue;
    const bool stopped = run.status == ResultStatus::interrupted;
    say(fmt::format("{}: run '{}': {}{}", to_string(run.status), run.id, with_options(run.reason),
                    stopped ? "" : "; --retry computes such points again"));
  }
}

/// Returns nothing when a stop was requested while gnuplot was at work.
std::optional<report::FigureFiles> write_unless_stopped(const report::FigureSpec& spec,
                                                        const report::FigureData& data,
                                                        const report::DrawOptions& draw) {
  try {
    return report::write_figure(spec, data, draw);
  } catch (const Interrupted&) {
    return std::nullopt;
  }
}

report::FigureData compute_points(const report::FigureSpec& spec,
                                  const report::FigureOptions& options, study::Store& store,
                                  const Context& context) {
  const auto in_processes = [](const study::Plan& plan, std::size_t points_to_do,
                               const Context& how) {
    return process_workers(plan, points_to_do, how);
  };
  return report::compute_figure(spec, catalog(), options, store, context, in_processes);
}

int make_figure(const std::string& name, Arguments arguments) {
  const std::vector<Parameter> known = figure_parameters();
  auto given = read_options(arguments, known);
  const CommonOptions options = take_common_options(given);
  report::FigureSpec spec = report::read_figure(report::find_figure(
      name, name.ends_with(".toml") ? std::vector<std::filesystem::path>{} : figure_folders()));

  const auto has = [&given](const char* flag) {
    return given.contains(flag) && std::get<bool>(given[flag]);
  };
  if (has("quick") && has("full")) {
    throw InvalidArgument("--full", "is the opposite of --quick; allowed: one of them");
  }
  if (!has("as-published")) report::drop_published(spec);
  report::DrawOptions draw;
  draw.computed.quick = has("quick");
  draw.computed.full = has("full");
  draw.computed.retry = has("retry");
  if (given.contains("seed")) draw.computed.seed = std::get<std::int64_t>(given["seed"]);
  if (given.contains("overlay")) draw.overlay = std::get<std::string>(given["overlay"]);
  if (!draw.overlay.empty() && !io::is_folder(draw.overlay)) {
    throw IoError(draw.overlay.string(), "is no folder; allowed: --overlay with one that is there");
  }
  const bool explains = options.explain || has("dry-run");
  if (explains && has("retry")) {
    throw InvalidArgument("--retry",
                          "has no effect where nothing is computed; allowed: leaving it out");
  }
  if (explains) return explain_figure(spec, draw.computed);
  draw.folder = options.out.empty() ? std::filesystem::path("onset-out") / spec.id
                                    : std::filesystem::path(options.out);
  draw.simd = numerics::simd::level();

  // Everything that can fail early is tried first: a long computation must not end without a place
  // for its results.
  report::check_figure(spec, catalog(), draw.computed);
  report::prepare_figure_folder(spec, draw.folder);
  const std::filesystem::path file = draw.folder / report::store_name(spec);
  std::optional<RunContext> run(options);
  std::optional<study::Store> store;  // kept to the end, so that nobody else writes the folder
  report::FigureData data;
  std::filesystem::path waited_for = file;
  try {
    store.emplace(file, study::Store::Mode::write, run->context().stop);
    if (given.contains("store")) {
      waited_for = std::get<std::string>(given["store"]);
      const study::Store source(waited_for, study::Store::Mode::read, run->context().stop);
      report::adopt_points(spec, catalog(), draw.computed, source, *store);
    }
    data = compute_points(spec, draw.computed, *store, run->context());
  } catch (const Interrupted&) {
    return end_locked_out(waited_for, run->stop_cause());
  }
  run->hide_bar();
  say_problems(data);
  draw.stop = run->context().stop;
  const std::optional<report::FigureFiles> files = write_unless_stopped(spec, data, draw);
  const StopCause cause = run->stop_cause();
  run.reset();  // from here on Ctrl-C ends the process: everything is written
  if (!files) {
    say("interrupted: the data are written, and the drawing is not done");
    return exit_code(ResultStatus::interrupted, cause);
  }
  for (const std::string& note : files->notes) say(note);
  std::string out;
  for (const auto& picture : files->pictures) out += one_line(picture.string(), all_of_it) + "\n";
  write_stdout(out);
  return exit_code(data.status(), cause);
}

}  // namespace

int figure_command(Arguments arguments) {
  if (wants_help(arguments)) {
    write_stdout(command_help("figure", figure_parameters(), "ID|FILE.toml|list"));
    return exit_ok;
  }
  if (arguments.empty() || arguments[0].starts_with('-')) {
    throw InvalidArgument("figure",
                          "the name of a figure comes first; `onset figure list` names them all");
  }
  if (arguments[0] == "list") {
    const std::vector<Parameter> known{
        option("names", ParameterKind::flag, false,
               "The names alone, one per line: those that a shell takes for one word.")};
    return complete(known, read_options(arguments.subspan(1), known)).flag("names") ? list_names()
                                                                                    : list_all();
  }
  return make_figure(arguments[0], arguments.subspan(1));
}

}  // namespace onset::tool
