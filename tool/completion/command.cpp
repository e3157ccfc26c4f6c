#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <vector>

#include "core/suggestion.hpp"
#include "onset/core/error.hpp"
#include "tool/commands/commands.hpp"
#include "tool/commands/help.hpp"
#include "tool/completion/completion.hpp"
#include "tool/exit_codes.hpp"
#include "tool/options/common_options.hpp"
#include "tool/output.hpp"

namespace onset::tool {

Words parse_words(const std::string& text) {
  Words words;
  std::istringstream alternatives(text);
  for (std::string word; std::getline(alternatives, word, '|');) {
    if (word == "ID") {
      words.listed = true;
    } else if (word.starts_with("FILE")) {
      words.files = true;
    } else if (!word.empty() && std::islower(static_cast<unsigned char>(word[0])) != 0) {
      words.literal.push_back(word);
    }
  }
  return words;
}

std::string listing(const std::string& program, const std::string& name) {
  return fmt::format("$({} {} list --names 2>/dev/null)", program, name);
}

int completion_command(Arguments arguments) {
  const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  if (wants_help(arguments)) {
    write_stdout(command_help("completion", std::vector{help_parameter()}, "bash|zsh|fish"));
    return exit_ok;
  }
  const std::string allowed = fmt::format("allowed: {}", fmt::join(shells, ", "));
  if (arguments.empty()) throw InvalidArgument("completion", "which shell? " + allowed);
  if (std::find(shells.begin(), shells.end(), arguments[0]) == shells.end()) {
    throw InvalidArgument(arguments[0],
                          "no such shell; " + allowed + suggestion(arguments[0], shells));
  }
  (void)read_options(arguments.subspan(1), {});
  write_stdout(arguments[0] == "bash"  ? bash_completion()
               : arguments[0] == "zsh" ? zsh_completion()
                                       : fish_completion());
  return exit_ok;
}

}  // namespace onset::tool
