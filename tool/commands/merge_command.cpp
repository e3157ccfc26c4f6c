#include <fmt/format.h>

#include <filesystem>

#include "core/printable.hpp"
#include "core/prose.hpp"
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
  const std::filesystem::path out = operands.words[0];
  const std::vector<std::filesystem::path> in(operands.words.begin() + 1, operands.words.end());
  // The stores are opened before OUT is made, so that a mistyped name does not leave an empty store
  // behind.
  for (const auto& path : in) (void)study::Store(path, study::Store::Mode::read);
  std::error_code error;
  const bool was_there = std::filesystem::exists(out, error);
  study::Store store(out, study::Store::Mode::write);
  // Another process may have made and filled it meanwhile: then it stays.
  const bool is_ours = !was_there && store.studies().empty();
  std::string message;
  try {
    study::merge(store, in);
    message = fmt::format("{} has {} of {}\n", one_line(out.string(), all_of_it),
                          counted(store.statuses().size(), "point"),
                          counted(store.studies().size(), "study", "studies"));
  } catch (const IoError&) {
    if (is_ours) std::filesystem::remove(out, error);
    throw;
  }
  if (!options.flag("quiet")) write_stdout(message);
  return exit_ok;
}

}  // namespace onset::tool
