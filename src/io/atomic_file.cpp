#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "io/child_process.hpp"
#include "io/descriptor.hpp"
#include "io/file_status.hpp"
#include "onset/core/error.hpp"
#include "onset/io/run_folder.hpp"

namespace onset::io {
namespace {

// Temporary files are recognised by these parts of their names.
constexpr std::string_view prefix = ".onset-";
constexpr std::string_view suffix = ".tmp";

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// A file that is removed again unless it was renamed to its final name. It is locked while it is
/// being written, so that what a killed process left is told from what a living one is writing.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target) : target_(target) {
    while (!try_open()) {
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }

  void write_all(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(file_.get(), content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot write");
      content.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void publish() {
    if (fsync(file_.get()) != 0) fail("cannot write");
    if (std::rename(path_.c_str(), target_.c_str()) != 0) fail("cannot rename into place");
    path_.clear();
    sync_folder();
  }

 private:
  /// Returns false when the name is taken, or when somebody took the file for a leftover before it
  /// was locked.
  bool try_open() {
    static std::atomic<unsigned> count{0};
    const auto path =
        folder_of(target_) / fmt::format("{}{}-{}{}", prefix, getpid(), count++, suffix);
    Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.get() < 0 && errno == EEXIST) return false;
    if (file.get() < 0) fail("cannot write");
    // Some file systems have no locks; nobody removes leftovers there.
    const bool taken = flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    struct stat opened = {};
    if (taken || fstat(file.get(), &opened) != 0 || opened.st_nlink == 0) return false;
    path_ = path;
    file_ = std::move(file);
    return true;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw IoError(target_.string(), what + ": " + last_error());
  }

  /// Makes sure that the new name itself survives a power cut. Some file systems cannot; as the
  /// content is safe by then, that is no error.
  void sync_folder() const {
    const Descriptor folder(open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() >= 0) fsync(folder.get());
  }

  std::filesystem::path target_;
  std::filesystem::path path_;
  Descriptor file_;
};

/// Removes a temporary file that no living process is writing.
void remove_leftover(const std::filesystem::path& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat opened = {};
  if (file.get() < 0 || fstat(file.get(), &opened) != 0 || !S_ISREG(opened.st_mode)) return;
  if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
}

void remove_leftovers(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(suffix)) remove_leftover(entry->path());
  }
}

}  // namespace

void write_file_atomically(const std::filesystem::path& path,
                           const std::function<void(const Sink&)>& write) {
  require_plain_target(path);
  remove_leftovers(folder_of(path));
  TemporaryFile file(path);
  write([&file](std::string_view piece) { file.write_all(piece); });
  file.publish();
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  write_file_atomically(path, [content](const Sink& sink) { sink(content); });
}

}  // namespace onset::io
