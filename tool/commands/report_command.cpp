#include <fmt/format.h>

#include "core/printable.hpp"
#include "onset/catalog.hpp"
#include "onset/core/error.hpp"
#include "onset/io/run_folder.hpp"
#include "report/html_report.hpp"
#include "tool/commands/commands.hpp"
#include "tool/commands/help.hpp"
#include "tool/exit_codes.hpp"
#include "tool/options/operands.hpp"
#include "tool/options/option.hpp"
#include "tool/output.hpp"
#include "tool/run_context.hpp"

namespace onset::tool {
std::vector<Parameter> report_parameters() {
  Parameter rows = option("max-rows", ParameterKind::integer, std::int64_t{2000},
                          "The most rows of a table; the page says when there are more.");
  rows.min = 1;
  return {option("out", ParameterKind::text, {}, "The page; STORE.html here by default."),
          option("study", ParameterKind::text, std::string(), "Only the study of that name."),
          std::move(rows), option("help", ParameterKind::flag, false, "This text.")};
}

int report_command(Arguments arguments) {
  const std::vector<Parameter> known = report_parameters();
  if (wants_help(arguments)) {
    write_stdout(command_help("report", known, "FILE"));
    return exit_ok;
  }
  const Operands operands = split_operands(arguments, known);
  const Parameters options = complete(known, read_options(operands.options, known));
  if (operands.words.size() != 1) {
    throw InvalidArgument("report", "one store is wanted; allowed: onset report FILE.db");
  }
  const std::filesystem::path file = operands.words[0];
  const std::filesystem::path page = options.has("out")
                                         ? std::filesystem::path(options.text("out"))
                                         : file.filename().replace_extension(".html");
  if (page.empty()) throw InvalidArgument("--out", "is empty; allowed: a file");
  std::string text;
  {
    const RunContext run(CommonOptions{});
    const report::HtmlOptions what{options.text("study"),
                                   static_cast<std::size_t>(options.integer("max-rows")),
                                   run.context().stop};
    try {
      const study::Store store(file, study::Store::Mode::read, what.stop);
      text = report::html_report(store, catalog(), what);
    } catch (const Interrupted&) {
      say("interrupted: no page was written");
      return exit_code(ResultStatus::interrupted, run.stop_cause());
    }
  }
  io::write_file_atomically(page, text);
  write_stdout(one_line(page.string(), all_of_it) + "\n");
  return exit_ok;
}

}  // namespace onset::tool
