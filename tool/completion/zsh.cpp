#include <fmt/format.h>

#include "core/field_names.hpp"
#include "onset/catalog.hpp"
#include "tool/commands/help.hpp"
#include "tool/completion/completion.hpp"

namespace onset::tool {
namespace {

/// Escapes text for a specification of _arguments or _describe within single quotes.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (std::string_view("\\[]:$`").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_option(const Parameter& option) {
  if (option.kind == ParameterKind::flag) {
    return fmt::format("'--{}[{}]'", option.name, zsh_text(with_options(option.text)));
  }
  std::string action = " ";
  if (option.kind == ParameterKind::word)
    action = fmt::format("({})", fmt::join(option.words, " "));
  if (option.kind == ParameterKind::text) {
    action = placeholder(option) == "DIR" ? "_files -/" : "_files";
  }
  return fmt::format("'--{}=[{}]:{}:{}'", option.name, zsh_text(with_options(option.text)),
                     zsh_text(placeholder(option)), action);
}

std::string zsh_arguments(const std::vector<Parameter>& options, const std::string& first = {}) {
  std::string out = "_arguments" + first;
  for (const Parameter& option : options) out += " \\\n          " + zsh_option(option);
  return out;
}

/// The specification of the word before the options.
std::string zsh_words(const Command& command) {
  const Words words = parse_words(command.words);
  if (!words.listed && !words.files) {
    if (words.literal.empty()) return {};
    return fmt::format(" \\\n          '1:{}:({})'", zsh_text(command.words),
                       fmt::join(words.literal, " "));
  }
  return fmt::format(" \\\n          '1:{}:_onset_{}_words'", zsh_text(command.words),
                     command.name);
}

/// A function that proposes listed names and files, for the commands that take them.
std::string zsh_word_functions() {
  std::string out;
  for (const Command& command : commands()) {
    const Words words = parse_words(command.words);
    if (!words.listed && !words.files) continue;
    std::vector<std::string> proposed = words.literal;
    if (words.listed) proposed.push_back("${(f)\"" + listing("onset", command.name) + "\"}");
    out += fmt::format("_onset_{}_words() {{\n", command.name);
    if (!proposed.empty()) out += fmt::format("  compadd -- {}\n", fmt::join(proposed, " "));
    if (words.files) out += "  _files\n";
    out += "}\n";
  }
  return out;
}

std::string zsh_description(std::string_view name, std::string_view summary) {
  return fmt::format(" \\\n      '{}:{}'", name, zsh_text(summary));
}

std::string zsh_families() {
  std::string out;
  for (const std::string& family : family_names()) {
    std::string described;
    std::string arms;
    for (const Verb& verb : catalog()) {
      if (verb.family != family) continue;
      described += zsh_description(verb.name, verb.summary);
      arms += fmt::format("        {}) {} ;;\n", verb.name, zsh_arguments(all_options(verb)));
    }
    out += fmt::format(R"(    {})
      if (( CURRENT == 3 )); then
        names=({})
        _describe verb names
        return
      fi
      shift 2 words
      (( CURRENT -= 2 ))
      case $words[1] in
{}      esac ;;
)",
                       family, described, arms);
  }
  return out;
}

}  // namespace

std::string zsh_completion() {
  std::string first;
  std::string arms = zsh_families();
  for (const std::string& family : family_names()) {
    first += zsh_description(family, fmt::format("{}", fmt::join(verb_names(family), ", ")));
  }
  for (const Command& command : commands()) {
    first += zsh_description(command.name, command.summary);
    arms += fmt::format("    {})\n      shift words\n      (( CURRENT -= 1 ))\n      {} ;;\n",
                        command.name, zsh_arguments(all_options(command), zsh_words(command)));
  }
  return fmt::format(
      R"(#compdef onset
# Completion of onset for zsh. To use it: source <(onset completion zsh), or save it as _onset in a
# folder of $fpath.
{}_onset() {{
  local -a names
  if (( CURRENT == 2 )); then
    names=({})
    _describe 'family or command' names
    return
  fi
  case $words[2] in
{}  esac
}}
if [[ $funcstack[1] == _onset ]]; then
  _onset "$@"
else
  compdef _onset onset
fi
)",
      zsh_word_functions(), first, arms);
}

}  // namespace onset::tool
