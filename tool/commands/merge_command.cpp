#include <fmt/format.h>

#include <filesystem>

#include "core/printable.hpp"
#include "onset/core/error.hpp"
#include "onset/study/store.hpp"
#include "tool/commands/commands.hpp"
#include "tool/commands/help.hpp"
#include "tool/exit_codes.hpp"
#include "tool/options/common_options.hpp"
#include "tool/options/operands.hpp"
#include "tool/options/option.hpp"
#include "tool/output.hpp"

namespace onset::tool {
std::vector<Parameter> merge_parameters() {
  return {option("quiet", ParameterKind::flag, false, "Say nothing."), help_parameter()};
}

int merge_command(Arguments arguments) {
  const std::vector<Parameter> known = merge_parameters();
  if (wants_help(arguments)) {
    write_stdout(command_help("merge", known, "OUT IN.."));
    return exit_ok;
  }
  const Operands operands = split_operands(arguments, known);
  const Parameters options = complete(known, read_options(operands.options, known));
  if (operands.words.size() < 2) {
    throw InvalidArgument("merge", "two stores or more are wanted; allowed: onset merge OUT IN..");
  }
  for (const std::string& word : operands.words) {
    if (word.empty())
      throw InvalidArgument("merge", "a name is empty; allowed: onset merge OUT IN..");
  }
  const std::filesystem::path out = operands.words[0];
  const std::vector<std::filesystem::path> in(operands.words.begin() + 1, operands.words.end());
  // The stores are opened before OUT is made, so that a mistyped name does not leave an empty store
  // behind.
  for (const auto& path : in) (void)study::Store(path, study::Store::Mode::read);
  std::error_code error;
  const bool is_new = !std::filesystem::exists(out, error);
  std::string message;
  try {
    study::Store store(out, study::Store::Mode::write);
    study::merge(store, in);
    const auto counted = [](std::size_t count, std::string_view one, std::string_view several) {
      return fmt::format("{} {}", count, count == 1 ? one : several);
    };
    message = fmt::format("{} has {} of {}\n", one_line(out.string(), all_of_it),
                          counted(store.statuses().size(), "point", "points"),
                          counted(store.studies().size(), "study", "studies"));
  } catch (const IoError&) {
    if (is_new) std::filesystem::remove(out, error);
    throw;
  }
  if (!options.flag("quiet")) write_stdout(message);
  return exit_ok;
}

}  // namespace onset::tool
