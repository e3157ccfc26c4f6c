#include <fmt/format.h>

#include <filesystem>

#include "core/printable.hpp"
#include "core/prose.hpp"
#include "io/file_status.hpp"
#include "io/read_file.hpp"
#include "onset/catalog.hpp"
#include "onset/core/context.hpp"
#include "onset/core/error.hpp"
#include "onset/io/run_folder.hpp"
#include "report/point_text.hpp"
#include "tool/commands/commands.hpp"
#include "tool/commands/help.hpp"
#include "tool/exit_codes.hpp"
#include "tool/options/common_options.hpp"
#include "tool/options/operands.hpp"
#include "tool/options/option.hpp"
#include "tool/output.hpp"
#include "tool/submit/slurm_scripts.hpp"

namespace onset::tool {
namespace {

namespace fs = std::filesystem;

Submission read_submission(const Operands& operands, const Parameters& options) {
  const std::vector<std::string>& words = operands.words;
  if (words.size() != 2 || words[0] != "slurm") {
    throw InvalidArgument("submit", words.empty() || words[0] == "slurm"
                                        ? "one study is wanted; allowed: onset submit slurm "
                                          "STUDY.toml --jobs N"
                                        : "'" + words[0] + "' is no scheduler; allowed: slurm");
  }
  Submission wanted;
  std::error_code error;
  wanted.program = fs::read_symlink("/proc/self/exe", error);
  if (error) wanted.program = "onset";
  wanted.start = io::current_folder();
  wanted.study = words[1];
  wanted.store = options.has("store") ? fs::path(options.text("store"))
                                      : wanted.study.stem().replace_extension(".db");
  wanted.folder = options.has("folder") ? fs::path(options.text("folder"))
                                        : fs::path(wanted.study.stem().string() + "-slurm");
  if (wanted.store.empty()) throw InvalidArgument("--store", "is empty; allowed: a file");
  if (wanted.folder.empty()) throw InvalidArgument("--folder", "is empty; allowed: a folder");
  wanted.jobs = static_cast<std::size_t>(options.integer("jobs"));
  wanted.threads = static_cast<int>(options.integer("threads"));
  if (options.has("hours")) wanted.hours = options.real("hours");
  return wanted;
}

/// The first of NAME~, NAME~2, NAME~3, .. that is not taken.
fs::path free_name(const fs::path& path) {
  fs::path name = path.string() + "~";
  std::error_code error;
  for (int number = 2; fs::exists(fs::symlink_status(name, error)); ++number) {
    name = fmt::format("{}~{}", path.string(), number);
  }
  return name;
}

/// People edit scripts: one that is not what will be written is kept under another name beside it.
void keep_edited(const fs::path& path, const std::string& text) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error)) || io::read_file(path) == text) return;
  const fs::path kept = free_name(path);
  fs::rename(path, kept, error);
  if (error) throw IoError(kept.string(), "cannot be written: " + error.message());
  say(fmt::format("{} was there with another text, which is now in {}",
                  one_line(path.string(), all_of_it), one_line(kept.string(), all_of_it)));
}

void write_scripts(const std::vector<Script>& scripts, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw IoError(folder.string(), error.message());
  for (const Script& script : scripts) {
    const fs::path path = folder / script.name;
    io::write_file_atomically(path, [&](const io::Sink& sink) {
      sink(script.text);
      // The new text is written by now, so that a full disk does not cost the user a script.
      keep_edited(path, script.text);
    });
    fs::permissions(path, fs::perms::owner_exec, fs::perm_options::add, error);
  }
}

}  // namespace

std::vector<Parameter> submit_parameters() {
  Parameter jobs = option("jobs", ParameterKind::integer, {}, "How many jobs share the points.");
  jobs.min = 1;
  jobs.max = 100000;
  jobs.required = true;
  Parameter threads = option("threads", ParameterKind::integer, std::int64_t{1},
                             "Processor cores, and threads, of every job.");
  threads.min = 1;
  threads.max = 4096;
  Parameter hours = option("hours", ParameterKind::real, {},
                           "Time limit of every job; three times the estimated work unless given.");
  hours.min = 0.0;
  hours.open_min = true;
  hours.max = most_hours;
  Parameter folder = option("folder", ParameterKind::text, {},
                            "Folder for the scripts, the shards and the logs; STUDY-slurm here by "
                            "default.");
  folder.folder = true;
  return {std::move(jobs),
          std::move(threads),
          std::move(hours),
          option("store", ParameterKind::text, {},
                 "The store that the shards are merged into; STUDY.db here by default."),
          std::move(folder),
          option("dry-run", ParameterKind::flag, false, "Show the scripts; write nothing."),
          help_parameter()};
}

int submit_command(Arguments arguments) {
  const std::vector<Parameter> known = submit_parameters();
  if (wants_help(arguments)) {
    write_stdout(command_help("submit", known, "slurm STUDY.toml"));
    return exit_ok;
  }
  const Operands operands = split_operands(arguments, known);
  const Parameters options = complete(known, read_options(operands.options, known));
  const Submission wanted = read_submission(operands, options);
  const study::Plan plan = study::make_plan(study::read_study(wanted.study), catalog());
  const std::vector<Script> scripts = slurm_scripts(plan, wanted);
  if (options.flag("dry-run")) {
    for (const Script& script : scripts) {
      write_stdout(fmt::format(
          "# {}\n{}\n", one_line((wanted.folder / script.name).string(), all_of_it), script.text));
    }
    return exit_ok;
  }
  write_scripts(scripts, wanted.folder);
  write_stdout(fmt::format("{} in {}; to submit them: {}\n", counted(plan.points.size(), "point"),
                           counted(wanted.jobs, "job"),
                           report::file_word((wanted.folder / "submit.sh").string())));
  return exit_ok;
}

}  // namespace onset::tool
