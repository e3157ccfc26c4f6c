#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "onset/core/error.hpp"
#include "onset/io/run_folder.hpp"

namespace onset::io {
namespace {

std::string last_error() {
  return std::generic_category().message(errno);
}

/// A file that is removed again unless it was renamed to its final name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target) : target_(target) {
    static std::atomic<unsigned> count{0};
    path_ = target.parent_path() /
            fmt::format(".{}.{}.{}", target.filename().string(), getpid(), count++);
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("cannot write");
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!path_.empty()) unlink(path_.c_str());
  }

  void write_all(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot write");
      content.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void publish() {
    if (fsync(descriptor_) != 0) fail("cannot write");
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (close(descriptor) != 0) fail("cannot write");
    if (std::rename(path_.c_str(), target_.c_str()) != 0) fail("cannot rename into place");
    path_.clear();
    sync_folder();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw IoError(target_.string(), what + ": " + last_error());
  }

  /// Makes the new name itself last through a power cut. Some file systems cannot; the content is
  /// safe by then, so that is no error.
  void sync_folder() const {
    std::filesystem::path folder = target_.parent_path();
    if (folder.empty()) folder = ".";
    const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    fsync(descriptor);
    close(descriptor);
  }

  std::filesystem::path target_;
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  TemporaryFile file(path);
  file.write_all(content);
  file.publish();
}

}  // namespace onset::io
