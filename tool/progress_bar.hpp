#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace onset::tool {

/// How a bar has come so far; apart from the terminal, so that it can be tested.
class ProgressState {
 public:
  /// `expected_seconds` is an estimate of the whole; 0 where there is none.
  explicit ProgressState(double expected_seconds) : expected_(expected_seconds) {}

  /// What a run says of itself. Its fractions count steps, not time.
  void report(double fraction, std::string_view what);
  /// The line of the bar after that many seconds. It never goes back: where the time was estimated
  /// the bar follows the clock, slower and slower, so that it moves however wrong the estimate was;
  /// else it shows the largest fraction so far.
  [[nodiscard]] std::string line(double seconds);

 private:
  double expected_;
  double reported_ = 0.0;
  double shown_ = 0.0;
  std::string what_;
};

/// A line on stderr that is redrawn several times a second; silent unless stderr is a terminal.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet, double expected_seconds = 0.0);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { clear(); }

  void show(double fraction, std::string_view what);
  /// Removes the line; it does not come back.
  void clear();

 private:
  void draw_until_stopped(const std::stop_token& stop);

  bool enabled_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  ProgressState state_;
  std::jthread painter_;  // comes last, since it uses the others
};

}  // namespace onset::tool
