#include "tool/serve/child_sweeps.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

#include "onset/core/error.hpp"

extern char** environ;

namespace onset::tool {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// How long sweeps may take to end with the server before they are killed; their workers end with
/// them, and a store is sound whenever its writer ends.
constexpr std::chrono::milliseconds grace_of_a_sweep{400};
constexpr std::chrono::milliseconds look{10};

/// Starts the sweep in a group of its own: Ctrl-C in the terminal would otherwise reach it besides
/// our own signal, and the second one ends a sweep at once.
pid_t spawn(const fs::path& study, const fs::path& store) {
  std::array<std::string, 6> words{"onset",   "sweep",        study.string(),
                                   "--store", store.string(), "--quiet"};
  std::array<char*, words.size() + 1> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  }
  posix_spawnattr_t attributes{};
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, "/proc/self/exe", &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw IoError("onset sweep", "cannot be started: " + std::generic_category().message(error));
  }
  return child;
}

class ChildSweeps final : public explore::Sweeps {
 public:
  ChildSweeps() = default;
  ChildSweeps(const ChildSweeps&) = delete;
  ChildSweeps& operator=(const ChildSweeps&) = delete;

  ~ChildSweeps() override { end(); }

  void end() override {
    const std::lock_guard lock(mutex_);
    for (const auto& [store, child] : children_) kill(child, SIGINT);
    const Clock::time_point deadline = Clock::now() + grace_of_a_sweep;
    while (!children_.empty()) {
      forget_ended();
      if (Clock::now() > deadline) {
        for (const auto& [store, child] : children_) kill(child, SIGKILL);
      }
      std::this_thread::sleep_for(look);
    }
  }

  void start(const fs::path& study, const fs::path& store) override {
    const std::lock_guard lock(mutex_);
    children_[store] = spawn(study, store);
  }

  bool stop(const fs::path& store) override {
    const std::lock_guard lock(mutex_);
    forget_ended();
    const auto found = children_.find(store);
    return found != children_.end() && kill(found->second, SIGINT) == 0;
  }

  [[nodiscard]] bool running(const fs::path& store) override {
    const std::lock_guard lock(mutex_);
    forget_ended();
    return children_.contains(store);
  }

 private:
  void forget_ended() {
    std::erase_if(children_,
                  [](const auto& entry) { return waitpid(entry.second, nullptr, WNOHANG) != 0; });
  }

  std::mutex mutex_;
  std::map<fs::path, pid_t> children_;
};

}  // namespace

std::unique_ptr<explore::Sweeps> child_sweeps() {
  return std::make_unique<ChildSweeps>();
}

}  // namespace onset::tool
