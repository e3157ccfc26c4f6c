#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/field_names.hpp"
#include "core/printable.hpp"
#include "core/suggestion.hpp"
#include "onset/catalog.hpp"
#include "onset/core/error.hpp"
#include "onset/version.hpp"
#include "tool/commands/commands.hpp"
#include "tool/commands/help.hpp"
#include "tool/exit_codes.hpp"
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

/// The full names of the verbs that are called so, as in "did you mean 'smi curve' or 'aim
/// curve'?"; where there is none, the nearest of `names`.
std::string nearest(const std::string& word, const std::vector<std::string>& names) {
  std::vector<std::string> verbs;
  for (const Verb& verb : catalog()) {
    if (verb.name == word) verbs.push_back(fmt::format("'{}'", verb.full_name()));
  }
  if (verbs.empty()) return suggestion(word, names);
  return fmt::format("; did you mean {}?", fmt::join(verbs, " or "));
}

int dispatch(Arguments arguments);

/// `help` alone, or before what help is wanted of.
int show_help(Arguments arguments) {
  if (arguments.empty()) return show(main_help());
  std::vector<std::string> words(arguments.begin(), arguments.end());
  words.emplace_back("--help");
  return dispatch(words);
}

int dispatch(Arguments arguments) {
  if (!arguments.empty() && arguments[0] == "help") return show_help(arguments.subspan(1));
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
    if (command.name == name) {
      return naming_options(all_options(command),
                            [&] { return command.run(arguments.subspan(1)); });
    }
    names.push_back(command.name);
  }
  names.insert(names.end(), {"help", "--help", "--version"});
  throw InvalidArgument(printable(name), fmt::format("no such family or command; allowed: {}{}",
                                                     fmt::join(names, ", "), nearest(name, names)));
}

/// OpenBLAS starts threads of its own as soon as it is loaded, which wait forever where a limit on
/// memory leaves no room for their buffers, and ends the program with SIGINT where there is none
/// for their stacks. It has to be told not to before it is loaded, which means starting this
/// program once more. Nothing of ours uses those threads.
void leave_out_blas_threads(int /*count*/, char** argv, char** environment) {
  constexpr std::string_view name = "OPENBLAS_NUM_THREADS=";
  static char one_thread[] = "OPENBLAS_NUM_THREADS=1";
  rlimit memory{};
  const bool limited = getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY;
  if (!limited) return;
  std::size_t size = 0;
  while (environment[size] != nullptr) {
    if (std::string_view(environment[size++]) == one_thread) return;
  }
  const std::unique_ptr<char*[]> changed(new (std::nothrow) char*[size + 2]);
  if (!changed) return;
  char** const end = std::copy_if(environment, environment + size, changed.get(), [&](char* word) {
    return !std::string_view(word).starts_with(name);
  });
  end[0] = one_thread;
  end[1] = nullptr;
  // Returns only where it fails, and then all goes on as it was.
  execve("/proc/self/exe", argv, changed.get());
}

#ifdef __GLIBC__
/// Objects of the libraries are made before main can catch anything: where there is no memory for
/// them, `new` turns to this.
[[noreturn]] void end_without_memory() {
  constexpr std::string_view text = "onset: out of memory before the start (ulimit -v)\n";
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
  _exit(exit_files);
}

void prepare_libraries(int count, char** argv, char** environment) {
  leave_out_blas_threads(count, argv, environment);
  std::set_new_handler(end_without_memory);
}

/// What stands here is called before anything of the libraries that the program is linked with, so
/// before OpenBLAS starts its threads.
[[gnu::used,
  gnu::section(".preinit_array")]] void (*const before_libraries)(int, char**,
                                                                  char**) = prepare_libraries;
#endif

int guarded_dispatch(Arguments arguments) {
  try {
    return dispatch(arguments);
  } catch (const InvalidArgument& error) {
    say(error.what());
    return exit_usage;
  } catch (const Refused& refusal) {
    say(fmt::format("refused: {}", with_options(refusal.what())));
    return exit_unresolved;
  } catch (const Interrupted&) {
    say("interrupted");
    return exit_interrupted;
  } catch (const IoError& error) {
    say(with_options(error.what()));
    return exit_files;
  } catch (const std::filesystem::filesystem_error& error) {
    say(IoError(error.path1().string(), error.code().message()).what());
    return exit_files;
  } catch (const ReaderGone&) {
    return exit_files;
  } catch (const std::bad_alloc&) {
    say("out of memory: this needs more than the machine or a limit on it (ulimit -v, a control "
        "group) allows; allowed: a smaller problem, fewer --threads, or a higher limit");
    return exit_files;
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) {
      say("no thread can be started: a limit on processes or memory (ulimit -u, ulimit -v, a "
          "control group) is reached; allowed: a higher limit");
      return exit_files;
    }
    say(fmt::format("internal error: {}", error.what()));
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
  std::set_new_handler(nullptr);
  onset::tool::secure_standard_streams();
  onset::tool::leave_out_blas_threads(argc, argv, environ);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return onset::tool::guarded_dispatch(arguments);
}
