#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>

#include "onset/catalog.hpp"
#include "onset/core/error.hpp"
#include "tool/exit_codes.hpp"
#include "tool/sweep/point_letters.hpp"
#include "tool/sweep/process_workers.hpp"

namespace onset::tool {
namespace {

/// The two ends of the pipes to the sweep. They take the place of stdin and stdout, so that neither
/// a stray line nor a program that a verb starts can disturb the conversation.
struct Pipes {
  int requests = -1;
  int replies = -1;
};

Pipes take_pipes() {
  constexpr int first_other = STDERR_FILENO + 1;
  const Pipes pipes{fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, first_other),
                    fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, first_other)};
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (pipes.requests < 0 || pipes.replies < 0 || nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
      dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw std::system_error(errno, std::generic_category(), "the pipes to the sweep");
  }
  close(nothing);
  return pipes;
}

/// Asks that the system kill this process and not the sweep when memory runs out.
void volunteer_to_be_killed() {
  constexpr int half_of_all_memory = 500;
  std::ofstream("/proc/self/oom_score_adj") << half_of_all_memory;
}

/// Waits until the sweep sends this process home or has ended, and makes sure that a point that
/// does not heed the stop ends too.
void end_with_the_sweep(int requests, std::stop_source stop) {
  pollfd entry{requests, 0, 0};  // reports only that the other end closes
  while (poll(&entry, 1, -1) < 0) {
  }
  stop.request_stop();
  std::this_thread::sleep_for(stop_grace);
  std::_Exit(exit_interrupted);
}

class Requests {
 public:
  explicit Requests(int pipe) : pipe_(pipe) {}

  /// Waits for the next request; returns nothing when there will be none.
  [[nodiscard]] std::optional<std::string> next() {
    std::size_t end = 0;
    while ((end = received_.find('\n')) == std::string::npos) {
      std::array<char, 65536> chunk;
      const ssize_t count = read(pipe_, chunk.data(), chunk.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return std::nullopt;
      received_.append(chunk.data(), static_cast<std::size_t>(count));
    }
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    return line;
  }

 private:
  int pipe_;
  std::string received_;
};

/// Sends a reply. If the sweep has ended, end_with_the_sweep() deals with it.
void reply(int pipe, char letter, std::string_view text) {
  const std::string line = fmt::format("{}{}\n", letter, text);
  for (std::string_view left = line; !left.empty();) {
    const ssize_t written = write(pipe, left.data(), left.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) left.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Tells the sweep how far a point is, now and then.
class ProgressTeller {
 public:
  explicit ProgressTeller(int pipe) : pipe_(pipe) {}

  void operator()(double fraction, std::string_view what) {
    constexpr std::chrono::milliseconds interval{500};
    const auto now = std::chrono::steady_clock::now();
    if (now < last_ + interval) return;
    last_ = now;
    std::string text = fmt::format("{:.0f} %, {}", 100.0 * fraction, what);
    std::replace(text.begin(), text.end(), '\n', ' ');
    reply(pipe_, progress_letter, text);
  }

 private:
  int pipe_;
  std::chrono::steady_clock::time_point last_;
};

/// Shows the rows that a point has so far. A table that grows is sent whole each time, so it is
/// sent only when sending has taken a small part of the time since.
class RowsTeller {
 public:
  RowsTeller(int pipe, study::PointRecord begun) : pipe_(pipe), record_(std::move(begun)) {}

  void operator()(const Result& result) {
    constexpr int share = 20;
    const bool last = result.status == ResultStatus::interrupted;
    const std::size_t rows = result.table.rows().size();
    const auto now = Clock::now();
    if (rows == told_ || (!last && now < ended_ + share * took_)) return;
    record_.table = result.table;
    record_.summary = result.summary;
    record_.notes = result.notes;
    reply(pipe_, rows_letter, study::to_wire(record_));
    told_ = rows;
    ended_ = Clock::now();
    took_ = ended_ - now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  int pipe_;
  study::PointRecord record_;
  std::size_t told_ = 0;
  Clock::time_point ended_;
  Clock::duration took_{0};
};

const Verb& verb_of(const study::PointRecord& point) {
  for (const Verb& verb : catalog()) {
    if (verb.full_name() == point.command) return verb;
  }
  throw InvalidArgument("--worker", "there is no command '" + point.command + "'");
}

std::optional<study::PointRecord> compute(std::string_view request, const Pipes& pipes,
                                          const std::stop_source& stop) {
  Context context;
  const char letter = request.empty() ? ' ' : request.front();
  const char* const begin = request.data() + (request.empty() ? 0 : 1);
  const char* const end = request.data() + request.size();
  const auto [rest, error] = std::from_chars(begin, end, context.memory_limit);
  const bool known = letter == compute_letter || letter == watch_letter;
  if (!known || error != std::errc{} || rest == end) {
    throw InvalidArgument("--worker", "is for sweeps to start; allowed: onset sweep STUDY.toml");
  }
  study::PointRecord begun = study::from_wire(std::string_view(rest + 1, end));
  context.threads = begun.threads;
  context.stop = stop.get_token();
  context.progress = ProgressTeller(pipes.replies);
  const Verb& verb = verb_of(begun);
  if (letter == compute_letter) return study::compute_point(verb, std::move(begun), context);
  return study::compute_point(verb, begun, context, RowsTeller(pipes.replies, begun));
}

}  // namespace

int serve_points() {
  const Pipes pipes = take_pipes();
  volunteer_to_be_killed();
  const std::stop_source stop;
  std::thread(end_with_the_sweep, pipes.requests, stop).detach();  // it ends with the process
  Requests requests(pipes.requests);
  while (const auto request = requests.next()) {
    const auto record = compute(*request, pipes, stop);
    reply(pipes.replies, record ? finished_letter : stopped_letter,
          record ? study::to_wire(*record) : std::string());
  }
  return exit_ok;
}

}  // namespace onset::tool
