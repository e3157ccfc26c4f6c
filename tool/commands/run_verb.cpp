#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "core/field_names.hpp"
#include "core/printable.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/core/error.hpp"
#include "onset/io/run_folder.hpp"
#include "report/drawing_failed.hpp"
#include "report/result_figure.hpp"
#include "tool/commands/commands.hpp"
#include "tool/commands/help.hpp"
#include "tool/exit_codes.hpp"
#include "tool/mpi/shared_run.hpp"
#include "tool/options/common_options.hpp"
#include "tool/options/known_columns.hpp"
#include "tool/output.hpp"
#include "tool/run_context.hpp"

namespace onset::tool {
namespace {

using onset::with_options;

/// Texts of the library, in which fields are called as the command calls them.
Call with_options(Call call) {
  call.cost.method = with_options(call.cost.method);
  call.cost.caution = with_options(call.cost.caution);
  return call;
}

Result with_options(Result result) {
  result.reason = with_options(result.reason);
  for (std::string& note : result.notes) note = with_options(note);
  for (auto& [name, cell] : result.summary) {
    if (auto* text = std::get_if<std::string>(&cell)) *text = with_options(*text);
  }
  return result;
}

/// A rough number, without an exponent unless it is very large or small.
std::string two_digits(double x) {
  constexpr double readable = 1e7;
  constexpr double three_digits = 99.5;  // {:.2g} writes 1e+02 from here on
  if (!(x >= three_digits && x < readable)) return fmt::format("{:.2g}", x);
  const double unit = std::pow(10.0, std::floor(std::log10(x)) - 1.0);
  return fmt::format("{:.0f}", unit * std::round(x / unit));
}

/// The method and the cost as a table of one row, or in sentences for people.
std::string explain(const Verb& verb, const Cost& cost, io::RunRecord record, Format format) {
  if (format == Format::table) {
    std::string out = fmt::format("onset {}: {}\n\n{}\n\nParameters\n", verb.full_name(),
                                  verb.summary, cost.method);
    for (const auto& [name, value] : record.parameters.values()) {
      out += fmt::format("  {:<18}  {}\n", name, one_line(to_text(value), all_of_it));
    }
    constexpr double mebibyte = 1024.0 * 1024.0;
    if (!cost.caution.empty()) out += fmt::format("\n{}\n", cost.caution);
    return out + fmt::format("\nEstimated cost: {} core-seconds, {} MiB. Nothing was computed.\n",
                             two_digits(cost.core_seconds),
                             two_digits(cost.memory_bytes / mebibyte));
  }
  record.result.table = Table({{"method", "how the numbers are computed", "", false},
                               {"core_seconds", "estimated work on one core", "s", false},
                               {"memory_bytes", "estimated memory", "bytes", false}});
  record.result.table.add_row({cost.method, cost.core_seconds, cost.memory_bytes});
  record.result.notes = {"Nothing was computed."};
  if (!cost.caution.empty()) record.result.notes.push_back(cost.caution);
  return render(record, format);
}

/// The exit code of a request that was only explained: that of its run where settling has refused
/// it already, and said so in its method. Such a run does nothing but refuse.
int exit_of_explained(const Verb& verb, const Call& call) {
  if (!call.cost.method.starts_with("Refused: ")) return exit_ok;
  return exit_code(onset::run(verb, call, {}).status, StopCause::none);
}

/// An amount of work with two digits, in the unit that suits it.
std::string work_text(double core_seconds) {
  constexpr double minute = 60.0, hour = 60.0 * minute, day = 24.0 * hour;
  if (core_seconds < 2.0 * hour) return two_digits(core_seconds / minute) + " core-minutes";
  if (core_seconds < 2.0 * day) return two_digits(core_seconds / hour) + " core-hours";
  return two_digits(core_seconds / day) + " core-days";
}

/// Says in advance what a large run will take.
void say_cost(const Verb& verb, const Cost& cost) {
  constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
  if (cost.memory_bytes >= gibibyte) {
    say(fmt::format("{} will need about {:.1f} GiB of memory", verb.full_name(),
                    cost.memory_bytes / gibibyte));
  }
  constexpr double minute = 60.0;
  if (cost.core_seconds >= 2.0 * minute) {
    say(fmt::format("{} will take about {}", verb.full_name(), work_text(cost.core_seconds)));
  }
  if (!cost.caution.empty()) say(cost.caution);
}

std::string stop_reason(StopCause cause, const CommonOptions& options) {
  if (cause == StopCause::time_limit) {
    return fmt::format("the time limit of {} s (--max-seconds) was reached",
                       options.max_seconds.value_or(0.0));
  }
  return "stopped on request; the rows finished by then are given";
}

StopCause run_and_time(const Verb& verb, const Call& call, const CommonOptions& options,
                       SharedRun* shared, io::RunRecord& record) {
  const double cores = options.threads * static_cast<double>(shared ? shared->count() : 1);
  const RunContext run(options, call.cost.core_seconds / cores);
  const numerics::WithPeers together(shared);
  const auto start = std::chrono::steady_clock::now();
  record.result = with_options(onset::run(verb, call, run.context()));
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (record.result.status == ResultStatus::interrupted) {
    record.result.reason = stop_reason(run.stop_cause(), options);
  }
  return run.stop_cause();
}

/// Draws the figure. The numbers exist by now, so a figure that cannot be drawn is worth a remark
/// and no more; one that cannot be written throws IoError. Returns what stopped the drawing, which
/// is said even when the run is quiet, since it decides the exit code.
StopCause draw_figure(const Verb& verb, const io::RunRecord& record, CommonOptions options) {
  // An interrupted run is not drawn, since half a curve looks like a whole one.
  if (record.result.status == ResultStatus::interrupted) return StopCause::none;
  // The time limit covers the computation and the drawing together.
  if (options.max_seconds)
    *options.max_seconds = std::max(0.0, *options.max_seconds - record.seconds);
  std::string problem;
  const RunContext run(options);
  try {
    for (const std::string& note :
         report::draw_result(verb, record.result.table, options.out, run.context().stop)) {
      if (!options.quiet) say(fmt::format("figure: {}", note));
    }
  } catch (const report::DrawingFailed& error) {
    problem = error.what();
  } catch (const Interrupted&) {
    const StopCause cause = run.stop_cause();
    say(fmt::format(
        "no figure: the drawing was stopped {}",
        cause == StopCause::time_limit ? "at the time limit (--max-seconds)" : "on request"));
    return cause;
  }
  if (!problem.empty() && !options.quiet) say(fmt::format("no figure: {}", problem));
  return StopCause::none;
}

/// Writes the rows to stdout. A numbered column that there is not is said after all of them were
/// shown: which there are is known only now, and the run may have been long. Returns whether all
/// was well.
bool show_rows(const io::RunRecord& record, const CommonOptions& options) {
  try {
    write_stdout(render(record, options.format, options.columns));
    return true;
  } catch (const InvalidArgument& error) {
    write_stdout(render(record, options.format));
    say(fmt::format("--{}", error.what()));
    return false;
  }
}

/// Reads the options; ranks that share a machine share its threads unless told otherwise.
CommonOptions take_options(std::map<std::string, Value>& given, const SharedRun* shared) {
  const bool asked = given.contains("threads");
  CommonOptions options = take_common_options(given);
  if (shared && !asked) options.threads = shared->fair_threads();
  return options;
}

/// What the other ranks do: the same run, of which they say nothing. Rank 0 says what is wrong with
/// a request.
int assist(const Verb& verb, Arguments arguments, SharedRun& shared) {
  std::string problem;
  try {
    auto given = read_options(arguments, all_options(verb));
    CommonOptions options = take_options(given, &shared);
    options.quiet = true;
    const Call call = verb.settle(given);
    if (options.explain) return exit_ok;
    io::RunRecord record;
    (void)run_and_time(verb, call, options, &shared, record);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  shared.leave(problem);
  return exit_ok;
}

int answer(const Verb& verb, Arguments arguments, SharedRun* shared) {
  auto given = read_options(arguments, all_options(verb));
  const CommonOptions options = take_options(given, shared);

  require_columns(verb, options.columns);

  io::RunRecord record;
  record.command = verb.full_name();
  record.method = verb.method;
  const Call call = with_options(verb.settle(given));
  record.parameters = call.parameters;
  if (options.explain) {
    write_stdout(explain(verb, call.cost, record, options.format));
    return exit_of_explained(verb, call);
  }
  if (verb.needs_folder && options.out.empty()) {
    throw InvalidArgument("--out", "required, but not given; allowed: a folder for the files");
  }
  require_memory(verb, call, available_memory());
  if (!options.out.empty()) io::prepare_run_folder(options.out, verb.full_name());
  if (!options.quiet) say_cost(verb, call.cost);

  const StopCause cause = run_and_time(verb, call, options, shared, record);
  if (shared) {
    shared->leave("");
    if (!shared->has_shared() && !options.quiet) {
      say(fmt::format("{} has no loops that processes share: each rank computed all of it",
                      verb.full_name()));
    }
  }

  // A folder that fails now must not cost the user the rows, so stdout comes before the error.
  std::optional<IoError> failure;
  if (!options.out.empty()) {
    try {
      io::write_run_folder(options.out, record, {numerics::simd::level(), options.threads});
    } catch (const IoError& error) {
      failure = error;
    }
  }
  const bool shown = show_rows(record, options);
  if (failure) throw *failure;
  const StopCause drawing_end =
      options.out.empty() ? StopCause::none : draw_figure(verb, record, options);
  // The table has said so on stdout; where programs read the other formats, people see stderr.
  if (record.result.status != ResultStatus::ok && options.format != Format::table &&
      !options.quiet) {
    say(fmt::format("{}: {}", to_string(record.result.status), record.result.reason));
  }
  if (!shown) return exit_usage;
  return drawing_end == StopCause::none ? exit_code(record.result.status, cause)
                                        : exit_code(ResultStatus::interrupted, drawing_end);
}

}  // namespace

int run_verb(const Verb& verb, Arguments arguments) {
  if (wants_help(arguments)) {
    write_stdout(verb_help(verb));
    return exit_ok;
  }
  const std::unique_ptr<SharedRun> shared = SharedRun::join();
  if (shared && shared->rank() > 0) return assist(verb, arguments, *shared);
  return naming_options(all_options(verb), [&] { return answer(verb, arguments, shared.get()); });
}

}  // namespace onset::tool
