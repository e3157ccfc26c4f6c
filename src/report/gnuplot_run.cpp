#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

#include "onset/core/error.hpp"
#include "report/gnuplot.hpp"

extern char** environ;

namespace onset::report {
namespace {

constexpr const char* log_name = "gnuplot.log";

/// What the child process has instead of our folder and our output.
class FileActions {
 public:
  explicit FileActions(const std::filesystem::path& folder) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
    constexpr int readable = 0644;
    posix_spawn_file_actions_addopen(&actions_, 1, log_name, O_WRONLY | O_CREAT | O_TRUNC,
                                     readable);
    posix_spawn_file_actions_adddup2(&actions_, 1, 2);
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// The exit status of the program, -1 when a signal ended it. Throws IoError when it cannot start.
int spawn_and_wait(const std::filesystem::path& folder, std::string program,
                   std::vector<std::string> arguments) {
  std::vector<char*> argv{program.data()};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const FileActions actions(folder);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, program.c_str(), actions.get(), nullptr, argv.data(), environ);
  if (error == ENOENT) {
    throw IoError(program, "not found; figures need it (Debian package gnuplot-nox)");
  }
  if (error != 0) throw IoError(program, std::generic_category().message(error));
  int status = 0;
  while (waitpid(child, &status, 0) == -1) {
    if (errno != EINTR) throw IoError(program, std::generic_category().message(errno));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string read_log(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

void run_gnuplot(const std::filesystem::path& folder, const std::string& id,
                 const std::string& format) {
  // -d: the settings of the user's own start-up file are not ours.
  const int status = spawn_and_wait(folder, "gnuplot",
                                    {"-d", "-e", fmt::format("format='{}'", format), id + ".gp"});
  const std::filesystem::path log = folder / log_name;
  if (status != 0) {
    throw IoError((folder / (id + ".gp")).string(), "gnuplot failed: " + read_log(log));
  }
  std::error_code ignored;
  std::filesystem::remove(log, ignored);
}

}  // namespace onset::report
