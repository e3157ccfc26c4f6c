#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "onset/catalog.hpp"
#include "onset/core/error.hpp"
#include "onset/core/words.hpp"
#include "onset/version.hpp"
#include "tool/commands.hpp"
#include "tool/exit_codes.hpp"
#include "tool/help.hpp"
#include "tool/output.hpp"

namespace onset::tool {
namespace {

int show(const std::string& text) {
  write_stdout(text);
  return exit_ok;
}

int run_family(const std::string& family, Arguments arguments) {
  if (arguments.empty() || (arguments[0].starts_with('-') && !wants_help(arguments))) {
    throw InvalidArgument(
        family, fmt::format("a verb is missing; allowed: {}", fmt::join(verb_names(family), ", ")));
  }
  if (arguments[0].starts_with('-')) return show(family_help(family));
  return run_verb(find_verb(family, arguments[0]), arguments.subspan(1));
}

int dispatch(Arguments arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    return show(main_help());
  }
  if (arguments[0] == "--version") return show(fmt::format("onset {}\n", version()));

  const std::string& name = arguments[0];
  std::vector<std::string> names = family_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    return run_family(name, arguments.subspan(1));
  }
  for (const Command& command : commands()) {
    if (command.name == name) return command.run(arguments.subspan(1));
    names.push_back(command.name);
  }
  names.insert(names.end(), {"--help", "--version"});
  throw InvalidArgument(name, fmt::format("no such family or command; allowed: {}{}",
                                          fmt::join(names, ", "), suggestion(name, names)));
}

int guarded_dispatch(Arguments arguments) {
  try {
    return dispatch(arguments);
  } catch (const InvalidArgument& error) {
    say(error.what());
    return exit_usage;
  } catch (const Refused& refusal) {
    say(fmt::format("refused: {}", refusal.what()));
    return exit_unresolved;
  } catch (const Interrupted&) {
    say("interrupted");
    return exit_interrupted;
  } catch (const IoError& error) {
    say(error.what());
    return exit_files;
  } catch (const ReaderGone&) {
    return exit_files;
  } catch (const std::bad_alloc&) {
    say("internal error: out of memory");
    return exit_internal;
  } catch (const std::exception& error) {
    say(fmt::format("internal error: {}", error.what()));
    return exit_internal;
  } catch (...) {
    say("internal error: an unknown exception");
    return exit_internal;
  }
}

}  // namespace
}  // namespace onset::tool

int main(int argc, char** argv) {
  onset::tool::secure_standard_streams();
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return onset::tool::guarded_dispatch(arguments);
}
