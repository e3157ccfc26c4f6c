#include "tool/sweep/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <vector>

#include "onset/core/error.hpp"

extern char** environ;

namespace onset::tool {
namespace {

[[noreturn]] void fail(int error) {
  throw IoError("worker process", "cannot be started: " + std::generic_category().message(error));
}

struct Pipe {
  int reading = -1;
  int writing = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno);
  return {ends[0], ends[1]};
}

/// A file in memory, each write to which goes to its end.
int make_memory_file() {
  const int file = memfd_create("onset", MFD_CLOEXEC);
  if (file < 0) fail(errno);
  fcntl(file, F_SETFL, O_APPEND);
  return file;
}

/// The descriptors and signals that a worker has instead of ours.
class SpawnSettings {
 public:
  SpawnSettings(int requests, int replies, int errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, requests, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, replies, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    // Terminals and batch systems send these signals to all processes at once. The sweep decides
    // what to do then; a worker that ended by itself would look like one that crashed.
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&blocked, signal);
    posix_spawnattr_setsigmask(&attributes_, &blocked);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  [[nodiscard]] int spawn(pid_t& child) const {
    std::array<std::string, 3> words{"onset", "sweep", "--worker"};
    std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
    // OpenBLAS, which runs with one thread everywhere in Onset, otherwise starts threads for all
    // processors in every worker.
    std::string one_thread = "OPENBLAS_NUM_THREADS=1";
    std::vector<char*> environment{one_thread.data()};
    for (char** variable = environ; *variable != nullptr; ++variable) {
      if (!std::string_view(*variable).starts_with("OPENBLAS_NUM_THREADS=")) {
        environment.push_back(*variable);
      }
    }
    environment.push_back(nullptr);
    return posix_spawn(&child, "/proc/self/exe", &actions_, &attributes_, arguments.data(),
                       environment.data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::string signal_text(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("signal {}, SIG{}", signal, name)
                         : fmt::format("signal {}", signal);
}

}  // namespace

WorkerProcess::WorkerProcess() {
  const Pipe requests = make_pipe();
  const Pipe replies = make_pipe();
  errors_ = make_memory_file();
  requests_ = requests.writing;
  replies_ = replies.reading;
  const int error = SpawnSettings(requests.reading, replies.writing, errors_).spawn(child_);
  close(requests.reading);
  close(replies.writing);
  if (error != 0) fail(error);
}

WorkerProcess::~WorkerProcess() {
  kill();
  send_home();
  close(replies_);
  close(errors_);
}

bool WorkerProcess::send(std::string_view request) {
  // What it said about earlier points does not matter any more.
  [[maybe_unused]] const int ignored = ftruncate(errors_, 0);
  const std::string line = std::string(request) + "\n";
  for (std::string_view left = line; !left.empty();) {
    const ssize_t written = write(requests_, left.data(), left.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) left.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void WorkerProcess::send_home() {
  if (requests_ >= 0) close(requests_);
  requests_ = -1;
}

void WorkerProcess::kill() {
  if (!status_) ::kill(child_, SIGKILL);
  reap();
}

void WorkerProcess::receive() {
  std::array<char, 65536> chunk;
  const ssize_t count = read(replies_, chunk.data(), chunk.size());
  if (count > 0) received_.append(chunk.data(), static_cast<std::size_t>(count));
  if (count == 0) ended_ = true;
}

std::optional<std::string> WorkerProcess::take_line() {
  const std::size_t end = received_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

void WorkerProcess::wait_for_end(Clock::time_point deadline) {
  while (!ended_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd entry{replies_, POLLIN, 0};
    const int ready = poll(&entry, 1, static_cast<int>(std::max<long>(left.count(), 0)));
    if (ready == 0) return;
    if (ready > 0) receive();
  }
}

void WorkerProcess::reap() {
  int status = 0;
  while (!status_) {
    const pid_t found = waitpid(child_, &status, 0);
    if (found == child_ || (found < 0 && errno != EINTR)) status_ = status;
  }
}

int WorkerProcess::ending_signal() {
  reap();
  return WIFSIGNALED(*status_) ? WTERMSIG(*status_) : 0;
}

std::string WorkerProcess::how_it_ended() {
  const int signal = ending_signal();
  std::string text =
      signal == SIGKILL ? "the computation was killed (signal 9), most likely for memory"
      : signal != 0
          ? fmt::format("the computation crashed ({})", signal_text(signal))
          : fmt::format("the computation ended its process (exit code {})", WEXITSTATUS(*status_));
  const std::string words = last_words();
  return words.empty() ? text : text + "; its last words: " + words;
}

std::string WorkerProcess::last_words() const {
  constexpr off_t longest = 400;
  const off_t size = lseek(errors_, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(longest), '\0');
  const ssize_t count =
      pread(errors_, text.data(), text.size(), std::max<off_t>(size - longest, 0));
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  std::replace(text.begin(), text.end(), '\n', ' ');
  const std::size_t end = text.find_last_not_of(' ');
  return end == std::string::npos ? std::string() : text.substr(0, end + 1);
}

}  // namespace onset::tool
