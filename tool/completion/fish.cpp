#include <fmt/format.h>

#include "core/field_names.hpp"
#include "onset/catalog.hpp"
#include "tool/commands/help.hpp"
#include "tool/completion/completion.hpp"

namespace onset::tool {
namespace {

/// Text within single quotes, where fish knows two escapes.
std::string fish_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string line(const std::string& condition, const std::string& rest) {
  return fmt::format("complete -c onset -n {} {}\n", fish_text(condition), rest);
}

std::string option_line(const std::string& condition, const Parameter& option) {
  std::string rest = fmt::format("-l {}", option.name);
  if (option.kind == ParameterKind::word) {
    rest += fmt::format(" -x -a {}", fish_text(fmt::format("{}", fmt::join(option.words, " "))));
  } else if (option.kind == ParameterKind::text) {
    rest += " -r -F";
  } else if (option.kind != ParameterKind::flag) {
    rest += " -x";
  }
  return line(condition, rest + " -d " + fish_text(with_options(option.text)));
}

std::string word_lines(const Command& command) {
  const Words words = parse_words(command.words);
  const std::string condition = fmt::format("__onset_at {}", command.name);
  std::string out;
  for (const std::string& word : words.literal) out += line(condition, "-f -a " + fish_text(word));
  if (words.listed) {
    out +=
        line(condition, fmt::format("-f -a '(onset {} list --names 2>/dev/null)'", command.name));
  }
  if (words.files) out += line(condition, "-F");
  return out;
}

}  // namespace

std::string fish_completion() {
  std::string out =
      R"(# Completion of onset for fish. To use it: onset completion fish | source, or save it as
# ~/.config/fish/completions/onset.fish.

# Whether exactly these words were given: the next one is proposed.
function __onset_at
    set -l words (commandline -opc)
    test "$words[2..]" = "$argv"
end
# Whether the line begins with these words: options of theirs are proposed.
function __onset_in
    set -l words (commandline -opc)
    set -l last (math (count $argv) + 1)
    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end
complete -c onset -f
)";
  for (const std::string& family : family_names()) {
    out += line("__onset_at",
                fmt::format("-a {} -d {}", family,
                            fish_text(fmt::format("{}", fmt::join(verb_names(family), ", ")))));
  }
  for (const Command& command : commands()) {
    out += line("__onset_at", fmt::format("-a {} -d {}", command.name, fish_text(command.summary)));
  }
  for (const Verb& verb : catalog()) {
    out += line(fmt::format("__onset_at {}", verb.family),
                fmt::format("-a {} -d {}", verb.name, fish_text(verb.summary)));
    const std::string inside = fmt::format("__onset_in {} {}", verb.family, verb.name);
    for (const Parameter& option : all_options(verb)) out += option_line(inside, option);
  }
  for (const Command& command : commands()) {
    out += word_lines(command);
    const std::string inside = fmt::format("__onset_in {}", command.name);
    for (const Parameter& option : all_options(command)) out += option_line(inside, option);
  }
  return out;
}

}  // namespace onset::tool
