#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/descriptor.hpp"

namespace onset::io {

/// A program that runs beside us. It gets its whole input at the start, and we read its lines as
/// they come. It has a process group of its own, so that Ctrl-C reaches us alone and we decide.
class ChildProcess {
 public:
  struct Start {
    std::string program;                   ///< a path, or a name to look for in PATH
    std::vector<std::string> environment;  ///< NAME=value, replacing or joining ours
    std::string_view input;                ///< its standard input
    std::string advice;                    ///< what to do for those who have no such program
  };
  /// Throws IoError naming the program.
  explicit ChildProcess(Start start);
  /// Ends the program, and what it started, if it is still running.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// The next line without its end; nothing when none came in time, or ever will: see ended().
  /// Throws IoError when a line has no end.
  [[nodiscard]] std::optional<std::string> read_line(std::chrono::milliseconds patience);
  /// Whether it closed its output and every whole line was read.
  [[nodiscard]] bool ended() const { return closed_; }

  /// Waits for its end and returns the exit status, or minus the signal that ended it; nothing when
  /// it is still running after that time. A program may close its output and run on.
  [[nodiscard]] std::optional<int> wait(std::chrono::milliseconds patience);
  /// The end of what it wrote to its standard error so far.
  [[nodiscard]] std::string errors() const;

 private:
  [[nodiscard]] std::optional<std::string> take_line();

  std::string program_;
  pid_t child_ = 0;
  std::optional<int> status_;
  bool closed_ = false;
  Descriptor output_;
  Descriptor errors_;
  std::string buffer_;
};

}  // namespace onset::io
