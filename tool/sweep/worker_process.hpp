#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace onset::tool {

/// A second process of this program that computes points for a sweep, see serve_points(). Requests
/// go to it and replies come back as lines of text.
class WorkerProcess {
 public:
  using Clock = std::chrono::steady_clock;

  /// Throws IoError when the system has no room for another process.
  WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  /// Kills it if it has not ended.
  ~WorkerProcess();

  /// Sends a request; returns false when the process has ended.
  [[nodiscard]] bool send(std::string_view request);
  /// Ends the requests: it abandons its point and ends by itself.
  void send_home();
  /// Kills it; how_it_ended() may be asked then.
  void kill();

  /// A descriptor that is readable when there is something to receive().
  [[nodiscard]] int replies() const { return replies_; }
  /// Receives what has arrived; waits when nothing has.
  void receive();
  /// The next whole line of what was received.
  [[nodiscard]] std::optional<std::string> take_line();
  /// Whether it will never reply again.
  [[nodiscard]] bool ended() const { return ended_; }
  /// Waits for its end, but not beyond the deadline.
  void wait_for_end(Clock::time_point deadline);

  /// The signal that ended it, or 0.
  [[nodiscard]] int ending_signal();
  /// How it ended, in words: the signal or the exit code, and what it said on stderr since the last
  /// request.
  [[nodiscard]] std::string how_it_ended();

 private:
  void reap();
  [[nodiscard]] std::string last_words() const;

  pid_t child_ = 0;
  int requests_ = -1;
  int replies_ = -1;
  int errors_ = -1;
  bool ended_ = false;
  std::optional<int> status_;  ///< as waitpid() gives it
  std::string received_;
};

}  // namespace onset::tool
