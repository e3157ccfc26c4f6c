#include <fmt/format.h>

#include "onset/catalog.hpp"
#include "tool/commands/help.hpp"
#include "tool/completion/completion.hpp"

namespace onset::tool {
namespace {

std::vector<std::string> first_words() {
  std::vector<std::string> words = family_names();
  for (const Command& command : commands()) words.push_back(command.name);
  return words;
}

std::string option_names(const std::vector<Parameter>& options) {
  std::vector<std::string> names;
  for (const Parameter& option : options) names.push_back("--" + option.name);
  return fmt::format("{}", fmt::join(names, " "));
}

/// The arms of `case "$command $prev"`, which say what may follow an option.
std::string bash_values(const std::string& name, const std::vector<Parameter>& options) {
  std::string out;
  std::vector<std::string>
      free;  // options that take numbers, for which there is nothing to propose
  for (const Parameter& option : options) {
    const std::string pattern = fmt::format("'{} --{}'", name, option.name);
    switch (option.kind) {
      case ParameterKind::flag: break;
      case ParameterKind::word:
        out += fmt::format("    {}) words='{}' ;;\n", pattern, fmt::join(option.words, " "));
        break;
      case ParameterKind::text:
        out += fmt::format("    {}) paths={} ;;\n", pattern,
                           placeholder(option) == "DIR" ? "-d" : "-f");
        break;
      default: free.push_back(pattern);
    }
  }
  if (!free.empty()) out += fmt::format("    {}) return ;;\n", fmt::join(free, " | "));
  return out;
}

/// The arms of `case $command`: the options, and the words before them.
std::string bash_options(const std::string& name, const std::vector<Parameter>& options) {
  return fmt::format("    '{}') options='{}' ;;\n", name, option_names(options));
}

std::string bash_words(const Command& command) {
  const Words words = parse_words(command.words);
  const std::vector<std::string>& proposed = words.literal;
  if (proposed.empty() && !words.listed && !words.files) return {};
  return fmt::format("      '{}') words='{}'{}{} ;;\n", command.name, fmt::join(proposed, " "),
                     words.listed ? " listed=$command" : "", words.files ? " paths=-f" : "");
}

std::string bash_families() {
  std::string out;
  for (const std::string& family : family_names()) {
    out += fmt::format("      '{}') words='{} --help' ;;\n", family,
                       fmt::join(verb_names(family), " "));
  }
  return out;
}

}  // namespace

std::string bash_completion() {
  std::string values;
  std::string options;
  for (const Verb& verb : catalog()) {
    values += bash_values(verb.full_name(), all_options(verb));
    options += bash_options(verb.full_name(), all_options(verb));
  }
  std::string words;
  for (const Command& command : commands()) {
    values += bash_values(command.name, all_options(command));
    options += bash_options(command.name, all_options(command));
    words += bash_words(command);
  }
  return fmt::format(
      R"(# Completion of onset for bash. To use it: source <(onset completion bash)
_onset() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command=${{COMP_WORDS[1]}} words='' options='' paths='' listed='' option name used
  COMPREPLY=()
  # bash breaks --name=value into three words.
  if [[ $cur == '=' ]]; then
    cur=''
  elif [[ $prev == '=' ]]; then
    prev=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  case $command in
    {0}) ((COMP_CWORD > 2)) && command+=" ${{COMP_WORDS[2]}}" ;;
  esac
  case "$command $prev" in
{1}  esac
  if ((COMP_CWORD == 1)); then
    words='{2} --help --version'
  elif ((COMP_CWORD == 2)); then
    case $command in
{3}{4}    esac
  fi
  if [[ -z $words$paths$listed || $cur == -* ]]; then
    case $command in
{5}    esac
    used=" ${{COMP_WORDS[*]:1:COMP_CWORD-1}} "
    for option in $options; do
      [[ $used == *" $option "* ]] || words+=" $option"
    done
  fi
  mapfile -t COMPREPLY < <(
    compgen -W "$words" -- "$cur"
    [[ -z $paths ]] || compgen "$paths" -- "$cur"
    # Names are those of files. compgen -W would expand them, and so run what stands in them.
    [[ -z $listed ]] || "${{COMP_WORDS[0]}}" "$listed" list --names 2>/dev/null |
      while IFS= read -r name; do
        [[ $name == "$cur"* && $name != *[^A-Za-z0-9._-]* ]] && printf '%s\n' "$name"
      done
  )
  [[ -z $paths ]] || compopt -o filenames 2>/dev/null
}}
complete -F _onset onset
)",
      fmt::join(family_names(), " | "), values, fmt::join(first_words(), " "), bash_families(),
      words, options);
}

}  // namespace onset::tool
