#pragma once

#include <string>
#include <vector>

/// Completion scripts, made from the catalogue and the list of commands. They run the command only
/// to ask for lists that change by themselves, say of figures.
namespace onset::tool {

[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();
[[nodiscard]] std::string fish_completion();

/// What may stand between a command's name and its options, read from Command::words.
struct Words {
  std::vector<std::string> literal;
  bool listed = false;  ///< whether they are what `onset <name> list` lists
  bool files = false;
};

[[nodiscard]] Words parse_words(const std::string& text);

/// Shell code for what `<program> <name> list` names.
[[nodiscard]] std::string listing(const std::string& program, const std::string& name);

}  // namespace onset::tool
