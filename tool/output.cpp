#include "tool/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

#include "core/printable.hpp"
#include "onset/core/error.hpp"

namespace onset::tool {
namespace {

/// The longest message. Longer ones repeat some very long text; their beginning and end say enough.
constexpr std::size_t longest_message = 4000;

/// The message with the line breaks of its own, after which lines are indented (an expression with
/// a mark below it). A line break in a name that it repeats would begin what looks like another
/// message, and is written out.
std::string with_own_lines(std::string_view message) {
  constexpr std::string_view own = "\n  ";
  std::string out;
  for (std::size_t begin = 0; begin <= message.size();) {
    const std::size_t end = std::min(message.find(own, begin), message.size());
    if (begin > 0) out += own;
    out += one_line(message.substr(begin, end - begin), longest_message);
    begin = end + own.size();
  }
  return printable(out, longest_message);
}

}  // namespace

void secure_standard_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is that of the closed stream. It is opened for the wrong direction on
    // purpose, so that writing to a closed stdout still fails.
    if (open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

void write_stdout(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) throw ReaderGone();
    if (written < 0) {
      throw IoError("standard output", "cannot write: " + std::generic_category().message(errno));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void say(std::string_view message) noexcept {
  try {
    const std::string line = "onset: " + with_own_lines(message) + "\n";
    [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
  } catch (...) {  // memory is exhausted, and the exit code has to suffice
  }
}

}  // namespace onset::tool
