#include "tool/run_context.hpp"

#include <fmt/format.h>

#include "tool/exit_codes.hpp"
#include "tool/output.hpp"

namespace onset::tool {

RunContext::RunContext(const CommonOptions& options, double expected_seconds)
    : bar_(options.quiet, expected_seconds), watch_(options.max_seconds) {
  context_.threads = options.threads;
  context_.stop = watch_.token();
  context_.memory_limit = available_memory();
  context_.progress = [this](double fraction, std::string_view what) { bar_.show(fraction, what); };
}

int exit_code(ResultStatus status, StopCause cause) {
  switch (status) {
    case ResultStatus::ok: return exit_ok;
    case ResultStatus::unconverged:
    case ResultStatus::refused: return exit_unresolved;
    case ResultStatus::interrupted:
      return cause == StopCause::time_limit ? exit_unresolved : exit_interrupted;
  }
  return exit_internal;
}

int end_locked_out(const std::filesystem::path& store, StopCause cause) {
  say(fmt::format(
      "interrupted: another program kept {} locked; run the same command again to go on",
      store.string()));
  return exit_code(ResultStatus::interrupted, cause);
}

}  // namespace onset::tool
