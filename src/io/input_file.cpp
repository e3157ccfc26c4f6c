#include "io/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "io/read_file.hpp"
#include "onset/core/error.hpp"

namespace onset::io {
namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

InputFile::InputFile(std::filesystem::path path)
    // Without O_NONBLOCK, opening a pipe that has no writer would wait forever.
    : path_(std::move(path)),
      descriptor_(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) {
  if (descriptor_.get() < 0) fail("cannot be opened: " + last_error());
  struct stat about {};
  if (fstat(descriptor_.get(), &about) != 0) fail("cannot be read: " + last_error());
  if (!S_ISREG(about.st_mode)) {
    fail(fmt::format("is {}; allowed: a regular file", kind_of(about.st_mode)));
  }
  size_ = static_cast<std::size_t>(about.st_size);
}

std::size_t InputFile::read(char* out, std::size_t count) {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got = ::read(descriptor_.get(), out + done, count - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read: " + last_error());
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void InputFile::fail(const std::string& what) const {
  throw IoError(path_.string(), what);
}

std::string read_file(const std::filesystem::path& path, std::size_t most) {
  InputFile file(path);
  std::string content;
  std::array<char, 65536> chunk;
  for (;;) {
    const std::size_t count = file.read(chunk.data(), chunk.size());
    content.append(chunk.data(), count);
    if (content.size() > most) {
      file.fail(fmt::format("has more than {} bytes; allowed: at most that many", most));
    }
    if (count < chunk.size()) return content;
  }
}

}  // namespace onset::io
