#pragma once

#include <atomic>
#include <optional>
#include <stop_token>
#include <thread>

namespace onset::tool {

enum class StopCause { none, signal, time_limit };

/// While it lives, SIGINT, SIGTERM, SIGHUP (unless it was ignored) and the time limit, if there is
/// one, request a stop; a second SIGINT or SIGTERM ends the process at once. There is one at a
/// time.
class StopWatch {
 public:
  explicit StopWatch(std::optional<double> max_seconds);
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;
  ~StopWatch();

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  /// What asked first; none when nothing did.
  [[nodiscard]] StopCause cause() const { return cause_.load(); }

 private:
  void watch(std::optional<double> max_seconds);

  std::stop_source source_;
  std::atomic<StopCause> cause_{StopCause::none};
  std::thread watcher_;
};

}  // namespace onset::tool
