#include <fmt/format.h>
#include <spawn.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "explore/explorer.hpp"
#include "explore/guard.hpp"
#include "io/file_status.hpp"
#include "onset/catalog.hpp"
#include "onset/core/error.hpp"
#include "tool/commands/commands.hpp"
#include "tool/commands/help.hpp"
#include "tool/data_folder.hpp"
#include "tool/exit_codes.hpp"
#include "tool/options/operands.hpp"
#include "tool/options/option.hpp"
#include "tool/output.hpp"
#include "tool/serve/child_sweeps.hpp"
#include "tool/serve/process_runs.hpp"
#include "tool/serve/server.hpp"
#include "tool/stop_watch.hpp"

extern char** environ;

namespace onset::tool {

std::vector<Parameter> serve_parameters() {
  Parameter port = option("port", ParameterKind::integer, std::int64_t{8642},
                          "Port on the loopback address; 0: any that is free.");
  port.min = 0;
  port.max = 65535;
  Parameter threads =
      option("threads", ParameterKind::integer, static_cast<std::int64_t>(available_threads()),
             "Worker threads of a run; the numbers are the same for any value.");
  threads.min = 1;
  threads.max = 4096;
  return {std::move(port),
          option("store", ParameterKind::text, {},
                 "A store to watch, read-only; further ones may follow it."),
          std::move(threads),
          option("open", ParameterKind::flag, false, "Open the page in the browser."),
          option("help", ParameterKind::flag, false, "This text.")};
}

namespace {

namespace fs = std::filesystem;

/// The stores as they are from any folder; throws IoError for one that cannot be read, before the
/// server starts. A store that is not there yet may come with its sweep.
std::vector<fs::path> stores_of(const Parameters& options, const Operands& operands) {
  std::vector<fs::path> stores;
  if (options.has("store")) stores.emplace_back(options.text("store"));
  if (!operands.words.empty() && stores.empty()) {
    throw InvalidArgument("'" + operands.words[0] + "'",
                          "a word that belongs to no option; allowed: --store FILE..");
  }
  stores.insert(stores.end(), operands.words.begin(), operands.words.end());
  for (const fs::path& store : stores) {
    if (store.empty()) throw InvalidArgument("--store", "is empty; allowed: a file");
    std::error_code error;
    if (fs::exists(store, error)) {
      (void)study::Store(store, study::Store::Mode::read).studies();
    } else {
      say(fmt::format("{} is not there yet; it is watched for, and shown once a sweep writes it",
                      store.string()));
    }
  }
  return stores;
}

void open_browser(const std::string& address) {
  std::string program = "xdg-open";
  std::string argument = address;
  std::array<char*, 3> arguments{program.data(), argument.data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) {
    say("no browser was opened (xdg-open was not found); open the address yourself");
  }
}

}  // namespace

int serve_command(Arguments arguments) {
  const std::vector<Parameter> known = serve_parameters();
  if (wants_help(arguments)) {
    write_stdout(command_help("serve", known));
    return exit_ok;
  }
  const Operands operands = split_operands(arguments, known);
  const Parameters options = complete(known, read_options(operands.options, known));

  const StopWatch watch(std::nullopt);
  const auto runs = process_runs(available_memory());
  const auto sweeps = child_sweeps();
  explore::ExplorerSettings settings;
  settings.token = explore::make_token();
  settings.verbs = catalog();
  settings.threads = static_cast<int>(options.integer("threads"));
  settings.memory = available_memory();
  settings.stores = stores_of(options, operands);
  if (const fs::path data = data_folder(); !data.empty()) {
    settings.figure_folders = {data / "figures"};
  }
  settings.folder = io::current_folder();
  settings.stop = watch.token();
  explore::Explorer explorer(settings, *runs, *sweeps);

  const auto server = Server::listen(
      static_cast<int>(options.integer("port")),
      [&explorer](const explore::Request& request) { return explorer.respond(request); });
  const std::string address =
      fmt::format("http://127.0.0.1:{}/{}/", server->port(), settings.token);
  write_stdout(address + "\n");
  say("the address holds a secret: whoever has it may compute here; Ctrl-C ends the server");
  if (options.flag("open")) open_browser(address);
  const bool closed = server->run(watch.token(), [&] {
    runs->end();
    sweeps->end();
  });
  // Nothing is left to be written; a client that does not let go must not keep us.
  if (!closed) std::_Exit(exit_ok);
  return exit_ok;
}

}  // namespace onset::tool
