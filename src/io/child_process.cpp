#include "io/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

#include "onset/core/error.hpp"

namespace onset::io {
namespace {

/// A line that is longer than this is taken to have no end.
constexpr std::size_t longest_line = std::size_t{1} << 20;

std::string message(int error) {
  return std::generic_category().message(error);
}

/// A file in memory that the child reads or writes; two pipes could deadlock, a file cannot.
Descriptor memory_file(const std::string& program) {
  Descriptor file(memfd_create("onset", MFD_CLOEXEC));
  if (file.get() < 0) throw IoError(program, "no memory for its input: " + message(errno));
  return file;
}

void fill(const Descriptor& file, std::string_view content, const std::string& program) {
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno != EINTR) {
      throw IoError(program, "no memory for its input: " + message(errno));
    }
    if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
  }
  lseek(file.get(), 0, SEEK_SET);
}

/// Our own environment with some variables replaced or added.
std::vector<char*> make_environment(std::vector<std::string>& changes) {
  const auto replaced = [&](std::string_view variable) {
    for (const std::string& change : changes) {
      if (variable.starts_with(std::string_view(change).substr(0, change.find('=') + 1))) {
        return true;
      }
    }
    return false;
  };
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!replaced(*variable)) variables.push_back(*variable);
  }
  for (std::string& change : changes) variables.push_back(change.data());
  variables.push_back(nullptr);
  return variables;
}

/// The descriptors, signals and process group that the child has instead of ours.
class SpawnSettings {
 public:
  SpawnSettings(int input, int output, int errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, input, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, 1);
    posix_spawn_file_actions_adddup2(&actions_, errors, 2);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    // When we end, its output is closed; it must then end too, however we treat broken pipes.
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &usual);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  [[nodiscard]] int spawn(pid_t& child, std::string& program, char** environment) const {
    std::array<char*, 2> arguments{program.data(), nullptr};
    return posix_spawnp(&child, program.c_str(), &actions_, &attributes_, arguments.data(),
                        environment);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

ChildProcess::ChildProcess(Start start) : program_(start.program) {
  const Descriptor input = memory_file(start.program);
  fill(input, start.input, start.program);
  errors_ = memory_file(start.program);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw IoError(start.program, message(errno));
  output_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);

  std::vector<char*> environment = make_environment(start.environment);
  const SpawnSettings settings(input.get(), theirs.get(), errors_.get());
  const int error = settings.spawn(child_, start.program, environment.data());
  if (error == ENOENT) throw IoError(start.program, "not found; " + start.advice);
  if (error != 0) throw IoError(start.program, "cannot be started: " + message(error));
}

ChildProcess::~ChildProcess() {
  if (status_) return;
  kill(-child_, SIGKILL);  // its whole process group
  while (waitpid(child_, nullptr, 0) == -1 && errno == EINTR) {
  }
}

std::optional<std::string> ChildProcess::take_line() {
  const std::size_t end = buffer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

std::optional<std::string> ChildProcess::read_line(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (auto line = take_line()) return line;
    if (closed_) return std::nullopt;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd ready{output_.get(), POLLIN, 0};
    const int found = poll(&ready, 1, static_cast<int>(std::max<long>(0, left.count())));
    if (found == 0) return std::nullopt;
    if (found < 0) continue;  // a signal interrupted the wait
    std::array<char, 65536> chunk;
    const ssize_t count = ::read(output_.get(), chunk.data(), chunk.size());
    if (count > 0) buffer_.append(chunk.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) closed_ = true;
    if (buffer_.size() > longest_line && buffer_.find('\n') == std::string::npos) {
      throw IoError(program_, fmt::format("wrote {} bytes and no end of line", buffer_.size()));
    }
  }
}

std::optional<int> ChildProcess::wait(std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds look_interval{5};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!status_) {
    int status = 0;
    const pid_t found = waitpid(child_, &status, WNOHANG);
    if (found == child_) {
      status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    } else if (found < 0 && errno != EINTR) {
      throw IoError(program_, "its end cannot be known: " + message(errno));
    } else if (std::chrono::steady_clock::now() >= deadline) {
      break;
    } else {
      std::this_thread::sleep_for(look_interval);
    }
  }
  return status_;
}

std::string ChildProcess::errors() const {
  constexpr off_t most = 4096;
  struct stat about {};
  if (fstat(errors_.get(), &about) != 0) return {};
  const off_t from = std::max<off_t>(0, about.st_size - most);
  std::string text(static_cast<std::size_t>(about.st_size - from), '\0');
  const ssize_t count = pread(errors_.get(), text.data(), text.size(), from);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return text;
}

}  // namespace onset::io
