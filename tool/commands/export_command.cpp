#include <fmt/format.h>
#include <unistd.h>

#include "onset/core/error.hpp"
#include "onset/io/npy.hpp"
#include "onset/io/run_folder.hpp"
#include "onset/study/sweep.hpp"
#include "tool/commands/commands.hpp"
#include "tool/commands/help.hpp"
#include "tool/exit_codes.hpp"
#include "tool/options/common_options.hpp"
#include "tool/options/operands.hpp"
#include "tool/options/option.hpp"
#include "tool/output.hpp"

namespace onset::tool {
namespace {

struct Counts {
  std::size_t missing = 0;
  std::size_t not_ok = 0;
};

Counts count_points(const study::StudyRecord& study, const study::Store& store) {
  Counts counts;
  const auto statuses = store.statuses();
  for (const auto& entry : study.points) {
    const auto found = statuses.find(entry.key);
    if (found == statuses.end()) {
      ++counts.missing;
    } else if (found->second != study::PointStatus::ok) {
      ++counts.not_ok;
    }
  }
  return counts;
}

std::string as_json(const study::StudyRecord& study, Table table, const Counts& counts) {
  io::RunRecord record;
  record.command = study.command;
  record.parameters.set("study", study.name);
  record.result.table = std::move(table);
  record.result.summary = {{"points", static_cast<std::int64_t>(study.points.size())},
                           {"missing", static_cast<std::int64_t>(counts.missing)},
                           {"not_ok", static_cast<std::int64_t>(counts.not_ok)}};
  return io::to_json(record);
}

}  // namespace

std::vector<Parameter> export_parameters() {
  Parameter format = option("format", ParameterKind::word, std::string("csv"),
                            "CSV, one JSON object, or one structured NumPy array.");
  format.words = {"csv", "json", "npy"};
  return {std::move(format),
          option("study", ParameterKind::text, std::string(),
                 "Name of the study, where the store has several."),
          option("out", ParameterKind::text, {}, "File to write, instead of stdout."),
          option("timing", ParameterKind::flag, false,
                 "Columns seconds, threads, host, finished as well."),
          option("quiet", ParameterKind::flag, false, "No remarks on stderr."),
          help_parameter()};
}

int export_command(Arguments arguments) {
  const std::vector<Parameter> known = export_parameters();
  if (wants_help(arguments)) {
    write_stdout(command_help("export", known, "FILE"));
    return exit_ok;
  }
  const Operands operands = split_operands(arguments, known);
  const Parameters options = complete(known, read_options(operands.options, known));
  if (operands.words.size() != 1) {
    throw InvalidArgument("export", "one store is wanted; allowed: onset export FILE");
  }
  if (options.has("out") && options.text("out").empty()) {
    throw InvalidArgument("--out", "is empty; allowed: a file");
  }
  const std::string& format = options.text("format");
  const bool to_file = options.has("out");
  if (format == "npy" && !to_file && isatty(STDOUT_FILENO) == 1) {
    throw InvalidArgument("--format", "npy is not for a terminal; allowed: --out FILE, or a pipe");
  }

  const study::Store store(operands.words[0], study::Store::Mode::read);
  const study::StudyRecord study = store.study(options.text("study"));
  Table table = study::study_table(study, store, options.flag("timing"));
  const Counts counts = count_points(study, store);
  std::string out = format == "csv"   ? io::to_csv(table)
                    : format == "npy" ? io::to_npy(table)
                                      : as_json(study, std::move(table), counts);
  if (to_file) {
    io::write_file_atomically(options.text("out"), out);
  } else {
    write_stdout(out);
  }
  if ((counts.missing > 0 || counts.not_ok > 0) && !options.flag("quiet")) {
    say(fmt::format("of {} points {} are missing, {} failed, were refused or did not converge",
                    study.points.size(), counts.missing, counts.not_ok));
  }
  return exit_ok;
}

}  // namespace onset::tool
