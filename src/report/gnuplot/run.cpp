#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>

#include "io/child_process.hpp"
#include "onset/core/error.hpp"
#include "report/drawing_failed.hpp"
#include "report/gnuplot/gnuplot.hpp"
#include "report/gnuplot/no_children.hpp"

namespace onset::report {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds poll_interval{5};

std::string message(int error) {
  return std::generic_category().message(error);
}

/// A file without a name: nothing is left of it when we are killed, and it needs no disk.
io::Descriptor memory_file(std::string_view content = {}) {
  io::Descriptor file(memfd_create("onset-gnuplot", MFD_CLOEXEC));
  if (file.get() < 0) throw DrawingFailed("no memory for it: " + message(errno));
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno != EINTR) throw DrawingFailed("no memory for it: " + message(errno));
    if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
  }
  return file;
}

std::string content_of(const io::Descriptor& file) {
  std::string text;
  std::array<char, 65536> chunk;
  for (;;) {
    const ssize_t count =
        pread(file.get(), chunk.data(), chunk.size(), static_cast<off_t>(text.size()));
    if (count <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

/// Our environment without what would let gnuplot find programs or read settings: the script is all
/// it needs.
std::vector<std::string> bare_environment() {
  std::vector<std::string> variables{"PATH=/dev/null"};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    if (!variable.starts_with("PATH=") && !variable.starts_with("GNU")) {
      variables.emplace_back(variable);
    }
  }
  return variables;
}

/// Pointers to the texts, and a null at the end, as exec() wants them.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// gnuplot at work. It stays in our process group, so that Ctrl-C ends both where we do not catch
/// it, and it ends with the object.
class Gnuplot {
 public:
  Gnuplot(const std::string& script, const std::string& format)
      : script_(memory_file(script)), picture_(memory_file()), remarks_(memory_file()) {
    // With -d gnuplot ignores the user's own start-up file.
    std::vector<std::string> words{"gnuplot", "-d", "-e",
                                   fmt::format("to_stdout=1; format='{}'", format), "/dev/stdin"};
    std::vector<std::string> variables = bare_environment();
    const std::vector<char*> arguments = pointers_to(words);
    const std::vector<char*> environment = pointers_to(variables);
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw DrawingFailed(message(errno));
    const io::Descriptor failure(ends[0]);
    {
      const io::Descriptor theirs(ends[1]);
      child_ = fork();
      if (child_ < 0) throw DrawingFailed("cannot be started: " + message(errno));
      if (child_ == 0) become_gnuplot(arguments, environment, theirs.get());
    }
    int error = 0;
    if (::read(failure.get(), &error, sizeof error) != sizeof error) return;  // gnuplot runs
    wait();
    if (error == ENOENT) {
      throw DrawingFailed("not found; figures need it (Debian package gnuplot-nox)");
    }
    throw DrawingFailed("cannot be started: " + message(error));
  }
  ~Gnuplot() {
    if (ended_) return;
    kill(child_, SIGKILL);
    wait();
  }
  Gnuplot(const Gnuplot&) = delete;
  Gnuplot& operator=(const Gnuplot&) = delete;

  [[nodiscard]] bool has_ended() {
    if (!ended_ && waitpid(child_, &status_, WNOHANG) == child_) ended_ = true;
    return ended_;
  }
  [[nodiscard]] bool is_content() const { return WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }
  [[nodiscard]] std::string picture() const { return content_of(picture_); }
  [[nodiscard]] std::string remarks() const { return content_of(remarks_); }

 private:
  /// Runs in the child, and does only what is allowed between fork() and exec() in a process with
  /// threads.
  [[noreturn]] void become_gnuplot(const std::vector<char*>& arguments,
                                   const std::vector<char*>& environment, int failure) const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // takes effect should we be killed
    forbid_children();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (dup2(script_.get(), 0) == 0 && dup2(picture_.get(), 1) == 1 &&
        dup2(remarks_.get(), 2) == 2) {
      execvpe(arguments[0], arguments.data(), environment.data());
    }
    const int error = errno;
    [[maybe_unused]] const ssize_t ignored = ::write(failure, &error, sizeof error);
    _exit(127);
  }

  void wait() {
    while (waitpid(child_, &status_, 0) == -1 && errno == EINTR) {
    }
    ended_ = true;
  }

  io::Descriptor script_;
  io::Descriptor picture_;
  io::Descriptor remarks_;
  pid_t child_ = 0;
  int status_ = 0;
  bool ended_ = false;
};

/// Whether a picture is complete: gnuplot does not say when it could not write all of it.
bool is_complete(std::string_view picture, std::string_view format) {
  using std::string_view_literals::operator""sv;
  const std::string_view end = format == "png"   ? "IEND\xAE\x42\x60\x82"sv
                               : format == "pdf" ? "%%EOF"sv
                                                 : "</svg>"sv;
  while (picture.ends_with('\n')) picture.remove_suffix(1);
  return picture.ends_with(end);
}

}  // namespace

std::string run_gnuplot(const std::string& script, const std::string& format,
                        const std::stop_token& stop, std::chrono::milliseconds longest) {
  Gnuplot gnuplot(script, format);
  const auto deadline = Clock::now() + longest;
  while (!gnuplot.has_ended()) {
    if (stop.stop_requested()) throw Interrupted();
    if (Clock::now() > deadline) {
      throw DrawingFailed(
          fmt::format("was not done after {} s and was ended",
                      std::chrono::duration_cast<std::chrono::seconds>(longest).count()));
    }
    std::this_thread::sleep_for(poll_interval);
  }
  // Ctrl-C may have ended gnuplot before we heard of it.
  if (stop.stop_requested()) throw Interrupted();
  const std::string remarks = gnuplot.remarks();
  const std::string why = remarks.empty() ? " and did not say why" : ": " + remarks;
  if (!gnuplot.is_content()) throw DrawingFailed("failed" + why);
  std::string picture = gnuplot.picture();
  if (!is_complete(picture, format)) {
    throw DrawingFailed(fmt::format("gave no complete {} picture{}", format, why));
  }
  return picture;
}

}  // namespace onset::report
