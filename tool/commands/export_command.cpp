#include <fmt/format.h>
#include <unistd.h>

#include "onset/core/error.hpp"
#include "onset/io/npy.hpp"
#include "onset/io/run_folder.hpp"
#include "onset/study/sweep.hpp"
#include "study/store/store_parts.hpp"
#include "tool/commands/commands.hpp"
#include "tool/commands/help.hpp"
#include "tool/exit_codes.hpp"
#include "tool/options/common_options.hpp"
#include "tool/options/operands.hpp"
#include "tool/options/option.hpp"
#include "tool/output.hpp"

namespace onset::tool {
namespace {

/// Pieces of text are gathered to this size before they are written.
constexpr std::size_t piece_size = 1 << 16;

/// Gathers small pieces into larger ones.
class Gathered {
 public:
  explicit Gathered(const io::Sink& sink) : sink_(sink) {}
  void add(std::string_view piece) {
    text_ += piece;
    if (text_.size() >= piece_size) flush();
  }
  void flush() {
    sink_(text_);
    text_.clear();
  }

 private:
  const io::Sink& sink_;
  std::string text_;
};

void write_csv(const study::StudyRows& rows, Gathered& out) {
  out.add(io::csv_header(rows.columns()));
  rows.each([&](const std::vector<Cell>& row) { out.add(io::csv_row(rows.columns(), row)); });
}

void write_npy(const study::StudyRows& rows, Gathered& out) {
  io::NpyRows array(rows.columns());
  rows.each([&](const std::vector<Cell>& row) { array.see(row); }, study::Store::Look::rows);
  out.add(array.header());
  rows.each([&](const std::vector<Cell>& row) { out.add(array.bytes(row)); });
}

void write_json(const study::StudyRecord& study, const study::StudyRows& rows, Gathered& out) {
  io::RunRecord record;
  record.command = study.command;
  record.parameters.set("study", study.name);
  record.result.summary = {{"points", static_cast<std::int64_t>(study.points.size())},
                           {"missing", static_cast<std::int64_t>(rows.missing())},
                           {"not_ok", static_cast<std::int64_t>(rows.not_ok())}};
  out.add(io::json_before_rows(record));
  bool first = true;
  rows.each([&](const std::vector<Cell>& row) {
    out.add(io::json_row(rows.columns(), row, first));
    first = false;
  });
  out.add(io::json_after_rows(record, !first));
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
  const study::StoreParts moment(store);  // both passes see the same points
  const study::StudyRows rows(study, store, options.flag("timing"));
  const auto write = [&](const io::Sink& sink) {
    Gathered out(sink);
    if (format == "csv") {
      write_csv(rows, out);
    } else if (format == "npy") {
      write_npy(rows, out);
    } else {
      write_json(study, rows, out);
    }
    out.flush();
  };
  if (to_file) {
    io::write_file_atomically(options.text("out"), write);
  } else {
    write([](std::string_view piece) { write_stdout(piece); });
  }
  if ((rows.missing() > 0 || rows.not_ok() > 0) && !options.flag("quiet")) {
    say(fmt::format("of {} points {} are missing, {} failed, were refused or did not converge",
                    study.points.size(), rows.missing(), rows.not_ok()));
  }
  return exit_ok;
}

}  // namespace onset::tool
