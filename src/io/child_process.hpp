#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace onset::io {

/// A file descriptor that is closed in the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

/// A program that runs beside us: gets its whole input at the start, and we read its lines as they
/// come. It has a process group of its own, so that Ctrl-C reaches us alone and we decide.
class ChildProcess {
 public:
  struct Start {
    std::string program;                   ///< a path, or a name to look for in PATH
    std::vector<std::string> environment;  ///< NAME=value, instead of or besides ours
    std::string_view input;                ///< its standard input
    std::string advice;                    ///< for those who have no such program
  };
  /// Throws IoError naming the program.
  explicit ChildProcess(Start start);
  /// Ends the program if it is still running.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// The next line without its end; nothing when none came in time, or ever will: see ended().
  [[nodiscard]] std::optional<std::string> read_line(std::chrono::milliseconds patience);
  /// Whether it closed its output and every whole line was read.
  [[nodiscard]] bool ended() const { return closed_; }

  /// Waits for its end: the exit status, or minus the signal that ended it.
  int wait();
  /// What it wrote to its standard error so far.
  [[nodiscard]] std::string errors() const;

 private:
  [[nodiscard]] std::optional<std::string> take_line();

  pid_t child_ = 0;
  bool reaped_ = false;
  bool closed_ = false;
  Descriptor output_;
  Descriptor errors_;
  std::string buffer_;
};

}  // namespace onset::io
