#include "tool/stop_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <system_error>

#include "tool/exit_codes.hpp"

namespace onset::tool {
namespace {

using Clock = std::chrono::steady_clock;

// A signal handler may do next to nothing: it writes a byte to this pipe, and a thread that waits
// on the other end does the rest.
int pipe_ends[2] = {-1, -1};
std::atomic<int> signals_seen{0};
std::atomic<bool> hung_up{false};
static_assert(std::atomic<int>::is_always_lock_free);  // a handler may not wait
constexpr char signal_byte = 's';
constexpr char quit_byte = 'q';

void send(char byte) {
  [[maybe_unused]] const ssize_t ignored = ::write(pipe_ends[1], &byte, 1);
}

extern "C" void on_signal(int signal) {
  const int saved = errno;
  // A terminal that closes sends the signal twice, through the shell and through the system; this
  // is not the impatience of a second Ctrl-C.
  if (signal == SIGHUP) hung_up = true;
  if (signals_seen.fetch_add(1) > 0 && signal != SIGHUP) _exit(exit_interrupted);
  send(signal_byte);
  errno = saved;
}

/// The last one is a terminal that closes.
constexpr std::array<int, 3> stop_signals{SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, stop_signals.size()> old_actions;

/// The milliseconds until the deadline for poll(); -1 means to wait forever.
int poll_timeout(std::optional<Clock::time_point> deadline) {
  if (!deadline) return -1;
  const std::chrono::duration<double, std::milli> left = *deadline - Clock::now();
  constexpr double longest = 60'000.0;  // keeps far deadlines inside an int; poll again after that
  return static_cast<int>(std::ceil(std::clamp(left.count(), 0.0, longest)));
}

}  // namespace

StopWatch::StopWatch(std::optional<double> max_seconds) {
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  signals_seen = 0;
  hung_up = false;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < stop_signals.size(); ++i) {
    sigaction(stop_signals[i], &action, &old_actions[i]);
    // With nohup somebody asked that the closing of the terminal be ignored, and meant it.
    const bool no_hang_up = stop_signals[i] == SIGHUP && old_actions[i].sa_handler == SIG_IGN;
    if (no_hang_up) sigaction(SIGHUP, &old_actions[i], nullptr);
  }
  watcher_ = std::thread([this, max_seconds] { watch(max_seconds); });
}

StopWatch::~StopWatch() {
  // The second signal of a terminal that closes must not cut off what is still to be written.
  if (hung_up) old_actions.back().sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < stop_signals.size(); ++i) {
    sigaction(stop_signals[i], &old_actions[i], nullptr);
  }
  send(quit_byte);
  watcher_.join();
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

void StopWatch::watch(std::optional<double> max_seconds) {
  std::optional<Clock::time_point> deadline;
  if (max_seconds) {
    constexpr double a_century = 3e9;  // the clock can count this far
    deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(std::min(*max_seconds, a_century)));
  }
  const auto request = [this](StopCause cause) {
    StopCause none = StopCause::none;
    cause_.compare_exchange_strong(none, cause);
    source_.request_stop();
  };
  for (;;) {
    pollfd entry{pipe_ends[0], POLLIN, 0};
    const int ready = poll(&entry, 1, poll_timeout(deadline));
    if (ready > 0) {
      char byte = quit_byte;
      if (::read(pipe_ends[0], &byte, 1) == 1 && byte == quit_byte) return;
      request(StopCause::signal);
    } else if (deadline && Clock::now() >= *deadline) {
      request(StopCause::time_limit);
      deadline.reset();
    }
  }
}

}  // namespace onset::tool
