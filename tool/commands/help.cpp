#include "tool/commands/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "core/field_names.hpp"
#include "onset/catalog.hpp"
#include "tool/options/common_options.hpp"

namespace onset::tool {
namespace {

constexpr std::size_t line_width = 80;
constexpr std::size_t option_indent = 22;

/// Wraps the words in lines of at most line_width, each line after the first indented.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t start_column) {
  std::string out;
  std::size_t column = start_column;
  bool first = true;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    // An interval such as [1, 32] stays on one line.
    const bool interval = (word[0] == '[' || word[0] == '(') && word.back() == ',';
    if (std::string rest; interval && words >> rest) word += ' ' + rest;
    if (!first && column + 1 + word.size() > line_width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
      first = true;
    }
    if (!first) ++column;
    out += (first ? "" : " ") + word;
    column += word.size();
    first = false;
  }
  return out;
}

/// Writes two columns: a name, and a text beside it or, when the name is long, below it.
std::string entry(const std::string& name, std::string_view text, std::size_t indent) {
  std::string out = "  " + name;
  if (out.size() + 2 > indent) {
    out += '\n' + std::string(indent, ' ');
  } else {
    out += std::string(indent - out.size(), ' ');
  }
  return out + wrapped(text, indent, indent) + '\n';
}

std::string paragraph(std::string_view text) {
  return text.empty() ? std::string{} : wrapped(text, 0, 0) + "\n\n";
}

std::string option_entry(const Parameter& parameter) {
  std::string name = "--" + parameter.name;
  if (parameter.kind != ParameterKind::flag) name += ' ' + placeholder(parameter);
  return entry(name, option_text(parameter), option_indent);
}

std::string verbs_of(std::string_view family) {
  std::string out;
  for (const Verb& verb : catalog()) {
    if (verb.family == family) out += entry(verb.full_name(), verb.summary, option_indent);
  }
  return out;
}

/// Whether every verb has the option.
bool is_common(const Parameter& parameter) {
  const std::vector<Parameter> common = common_parameters();
  return parameter.name == "seed" || parameter.name == "tol" ||
         std::any_of(common.begin(), common.end(),
                     [&](const Parameter& other) { return other.name == parameter.name; });
}

}  // namespace

std::string placeholder(const Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::flag: return "";
    case ParameterKind::integer: return "N";
    case ParameterKind::real: return "X";
    case ParameterKind::reals: return "X[,X..]";
    case ParameterKind::grid: return "GRID";
    case ParameterKind::word: return "WORD";
    case ParameterKind::text: return parameter.folder ? "DIR" : "TEXT";
  }
  return "";
}

std::string option_text(const Parameter& parameter) {
  std::string text = with_options(parameter.text);
  // For free text and flags the sentence says it all.
  if (parameter.kind != ParameterKind::flag && parameter.kind != ParameterKind::text) {
    text += " Allowed: " + parameter.allowed() + ".";
  }
  if (parameter.required) text += " Required.";
  const bool has_default = parameter.kind != ParameterKind::flag && !parameter.required &&
                           !std::holds_alternative<std::monostate>(parameter.fallback);
  if (has_default) text += " Default: " + to_text(parameter.fallback) + ".";
  return text;
}

std::string columns_title(const RowKind& kind) {
  return kind.when.empty() ? "Columns" : "Columns " + with_options(kind.when);
}

std::string column_text(const Column& column) {
  std::string text = with_options(column.meaning);
  if (!column.unit.empty()) text += fmt::format("{}[{}]", text.empty() ? "" : " ", column.unit);
  if (column.estimate) {
    text += fmt::format("{}with its standard error", text.empty() ? "" : ", ");
  }
  return text;
}

std::string required_usage(const Verb& verb) {
  std::string out;
  for (const Parameter& parameter : verb.parameters) {
    if (!parameter.required) continue;
    out += (parameter.operand ? " " : " --" + parameter.name + ' ') + placeholder(parameter);
  }
  if (verb.needs_folder) out += " --out DIR";
  return out;
}

std::vector<Parameter> all_options(const Verb& verb) {
  std::vector<Parameter> all = verb.parameters;
  for (Parameter& parameter : common_parameters()) all.push_back(std::move(parameter));
  return all;
}

std::vector<Parameter> all_options(const Command& command) {
  return command.options ? command.options() : std::vector{help_parameter()};
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const Verb& verb : catalog()) {
    if (std::find(names.begin(), names.end(), verb.family) == names.end()) {
      names.push_back(verb.family);
    }
  }
  return names;
}

std::vector<std::string> verb_names(std::string_view family) {
  std::vector<std::string> names;
  for (const Verb& verb : catalog()) {
    if (verb.family == family) names.push_back(verb.name);
  }
  return names;
}

std::string_view exit_code_summary() {
  return "0 ok; 2 usage; 3 not converged, refused or out of time; 4 files; 130 interrupted; 1 a "
         "fault of ours.";
}

std::string main_help() {
  std::string out = R"(Onset: where attention models start to learn, how well they can, and which
algorithms get there. Every number comes with its standard error.

Usage: onset <family> <verb> [options]
       onset <command> [options]

Verbs
)";
  for (const Verb& verb : catalog()) out += entry(verb.full_name(), verb.summary, option_indent);
  out += "\nCommands\n";
  for (const Command& command : commands()) {
    out += entry(command.name, command.summary, option_indent);
  }
  out += entry("--version", "The version", option_indent);
  out += entry("help, --help", "This text; of a family, a verb or a command: help smi curve",
               option_indent);
  out += '\n' + wrapped(fmt::format("Exit codes: {}", exit_code_summary()), 0, 0) + '\n';
  if (!catalog().empty() && !catalog().front().examples.empty()) {
    out += "\nTry: onset " + catalog().front().examples.front() + "\n";
  }
  return out;
}

std::string family_help(std::string_view family) {
  return fmt::format(R"(Usage: onset {0} <verb> [options]

Verbs
{1}
'onset {0} <verb> --help' explains the options and columns of a verb.
)",
                     family, verbs_of(family));
}

std::string verb_help(const Verb& verb) {
  std::string out = fmt::format("onset {}: {}\n\n", verb.full_name(), verb.summary);
  out += paragraph(with_options(verb.details));
  out += fmt::format("Usage: onset {}{} [options]\n\nOptions\n", verb.full_name(),
                     required_usage(verb));
  std::string common;
  for (const Parameter& parameter : all_options(verb)) {
    (is_common(parameter) ? common : out) += option_entry(parameter);
  }
  out += "\nOptions of every verb\n" + common;

  for (const RowKind& kind : verb.rows) {
    out += fmt::format("\n{}\n", columns_title(kind));
    std::size_t longest = 0;
    for (const Column& column : kind.columns) longest = std::max(longest, column.name.size());
    const std::size_t indent = std::min(longest + 4, option_indent);
    for (const Column& column : kind.columns) {
      out += entry(column.name, column_text(column), indent);
    }
  }
  if (!verb.examples.empty()) {
    out += "\nExamples\n";
    for (const std::string& example : verb.examples) out += "  onset " + example + "\n";
  }
  return out;
}

std::string command_help(std::string_view name, std::span<const Parameter> options,
                         std::string_view words) {
  const auto all = commands();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Command& command) { return command.name == name; });
  std::string out = fmt::format("onset {0}: {1}\n\nUsage: onset {0} {2}{3}[options]\n\nOptions\n",
                                name, found == all.end() ? std::string{} : found->summary, words,
                                words.empty() ? "" : " ");
  for (const Parameter& option : options) out += option_entry(option);
  return out;
}

}  // namespace onset::tool
