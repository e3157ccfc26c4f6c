#include "tool/stop_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
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
static_assert(std::atomic<int>::is_always_lock_free);  // a handler may not wait
constexpr char signal_byte = 's';
constexpr char quit_byte = 'q';

void send(char byte) {
  [[maybe_unused]] const ssize_t ignored = ::write(pipe_ends[1], &byte, 1);
}

extern "C" void on_signal(int) {
  const int saved = errno;
  if (signals_seen.fetch_add(1) > 0) _exit(exit_interrupted);
  send(signal_byte);
  errno = saved;
}

struct sigaction old_interrupt;
struct sigaction old_terminate;

/// Milliseconds until the deadline for poll(); -1: wait for ever.
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
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &old_interrupt);
  sigaction(SIGTERM, &action, &old_terminate);
  watcher_ = std::thread([this, max_seconds] { watch(max_seconds); });
}

StopWatch::~StopWatch() {
  sigaction(SIGINT, &old_interrupt, nullptr);
  sigaction(SIGTERM, &old_terminate, nullptr);
  send(quit_byte);
  watcher_.join();
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

void StopWatch::watch(std::optional<double> max_seconds) {
  std::optional<Clock::time_point> deadline;
  if (max_seconds) {
    constexpr double a_century = 3e9;  // what the clock can count to
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
