#include <fmt/format.h>

#include <vector>

#include "core/field_names.hpp"
#include "onset/catalog.hpp"
#include "onset/version.hpp"
#include "tool/commands/commands.hpp"
#include "tool/commands/help.hpp"
#include "tool/exit_codes.hpp"
#include "tool/options/common_options.hpp"
#include "tool/output.hpp"

namespace onset::tool {
namespace {

/// Escapes text so that troff shows the same letters: hyphens that can be pasted, no control lines.
std::string troff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  const bool control = !out.empty() && (out[0] == '.' || out[0] == '\'');
  return control ? "\\&" + out : out;
}

std::string section(std::string_view title) {
  return fmt::format(".SH {}\n", title);
}

std::string subsection(std::string_view title) {
  return fmt::format(".SS \"{}\"\n", troff(title));
}

std::string man_paragraph(std::string_view text) {
  return text.empty() ? std::string{} : fmt::format(".PP\n{}\n", troff(text));
}

/// Writes a term in bold, the placeholder of its value in italics, and its text.
std::string entry(std::string_view term, std::string_view value, std::string_view text) {
  std::string out = fmt::format(".TP\n\\fB{}\\fR", troff(term));
  if (!value.empty()) out += fmt::format(" \\fI{}\\fR", troff(value));
  return out + fmt::format("\n{}\n", troff(text));
}

std::string man_option(Parameter option) {
  // The page is read on other machines than the one that wrote it.
  if (option.name == "threads") option.fallback = {};
  return entry("--" + option.name, placeholder(option), option_text(option));
}

std::string verb_section(const Verb& verb) {
  std::string out = subsection("onset " + verb.full_name() + required_usage(verb) + " [options]");
  out += man_paragraph("What it computes: " + verb.summary + ". " + with_options(verb.details));
  for (const Parameter& option : verb.parameters) out += man_option(option);
  for (const RowKind& kind : verb.rows) {
    out += man_paragraph(columns_title(kind) + ":");
    for (const Column& column : kind.columns) out += entry(column.name, "", column_text(column));
  }
  return out;
}

std::string command_section(const Command& command) {
  const std::string words = command.words.empty() ? "" : " " + command.words;
  std::string out = subsection("onset " + command.name + words + " [options]");
  out += man_paragraph(command.summary + ".");
  for (const Parameter& option : all_options(command)) out += man_option(option);
  return out;
}

std::string synopsis() {
  return section("SYNOPSIS") + R"(.B onset
\fIfamily verb\fR [\fIoptions\fR]
.br
.B onset
\fIcommand\fR [\fIoptions\fR]
.br
.B onset
\-\-help | \-\-version
)";
}

std::string environment() {
  return section("ENVIRONMENT") +
         entry("ONSET_DATA", "",
               "Folder of figures and other data; ../share/onset beside the program unless set.") +
         entry(
             "ONSET_SIMD", "",
             "Vector instructions to use, for the same bits on different machines; `onset doctor` "
             "shows the ones in use.") +
         entry("SLURM_CPUS_PER_TASK", "", "Most threads that are used unless --threads is given.");
}

std::string examples() {
  std::string out = section("EXAMPLES") + ".nf\n";
  for (const Verb& verb : catalog()) {
    for (const std::string& example : verb.examples) out += troff("onset " + example) + "\n";
  }
  return out + ".fi\n";
}

std::string man_page() {
  std::string out = fmt::format(
      ".\\\" Made by `onset man` from the catalogue of verbs.\n"
      ".TH ONSET 1 \"\" \"onset {}\" \"User Commands\"\n",
      version());
  out +=
      section("NAME") + "onset \\- where attention models start to learn, and how well they can\n";
  out += synopsis() + section("DESCRIPTION");
  out += man_paragraph(
      "Computes where attention models start to learn, how well they can, and which algorithms get "
      "there. Every number comes with its standard error. Values follow their option as `--name "
      "value` or `--name=value`; a GRID is `0.1,0.2,0.5`, `start:stop:step` or "
      "`log:start:stop:count`.");
  out += section("VERBS");
  for (const Verb& verb : catalog()) out += verb_section(verb);
  out += section("OPTIONS OF EVERY VERB");
  for (const Parameter& option : common_parameters()) out += man_option(option);
  out += section("COMMANDS");
  for (const Command& command : commands()) out += command_section(command);
  out += section("EXIT STATUS") + man_paragraph(exit_code_summary());
  return out + environment() + examples();
}

}  // namespace

int man_command(Arguments arguments) {
  const std::vector<Parameter> options = {help_parameter()};
  if (wants_help(arguments)) {
    write_stdout(command_help("man", options));
    return exit_ok;
  }
  (void)read_options(arguments, options);
  write_stdout(man_page());
  return exit_ok;
}

}  // namespace onset::tool
