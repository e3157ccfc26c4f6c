#pragma once

#include <filesystem>

#include "onset/core/context.hpp"
#include "onset/core/verb.hpp"
#include "tool/options/common_options.hpp"
#include "tool/progress_bar.hpp"
#include "tool/stop_watch.hpp"

namespace onset::tool {

/// What the command does around a computation: while it lives there is a progress bar, and Ctrl-C
/// and the time limit request a stop. There is one at a time. It must not live on during the
/// output, when a signal should end the process.
class RunContext {
 public:
  /// `expected_seconds` is an estimate of the time that it takes; 0 where there is none.
  explicit RunContext(const CommonOptions& options, double expected_seconds = 0.0);

  [[nodiscard]] const Context& context() const { return context_; }
  /// Clears the line for messages.
  void hide_bar() { bar_.clear(); }
  /// What asked the run to stop; none when nothing did.
  [[nodiscard]] StopCause stop_cause() const { return watch_.cause(); }

 private:
  ProgressBar bar_;
  StopWatch watch_;
  Context context_;
};

/// What the shell is told about a run that ended like this.
[[nodiscard]] int exit_code(ResultStatus status, StopCause cause);

/// The end of a run that was stopped while another program kept its store locked: says so and
/// returns the exit code.
[[nodiscard]] int end_locked_out(const std::filesystem::path& store, StopCause cause);

}  // namespace onset::tool
