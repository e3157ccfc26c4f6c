#include "study/store/writer_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "onset/core/error.hpp"
#include "study/sweep/host.hpp"

namespace onset::study {
namespace {

constexpr std::string_view first_word = "process ";

/// The holder as it described itself, such as "process 123 on node7".
std::string holder(int descriptor) {
  std::string text(256, '\0');
  const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

/// Whether a file is a lock: plain, with a single name, and empty or as a holder leaves it. Another
/// file of that name belongs to somebody, and is neither overwritten nor removed.
bool is_lock(int descriptor) {
  struct stat opened = {};
  if (fstat(descriptor, &opened) != 0 || !S_ISREG(opened.st_mode) || opened.st_nlink > 1) {
    return false;
  }
  return opened.st_size == 0 || holder(descriptor).starts_with(first_word);
}

bool is_still_there(int descriptor, const std::filesystem::path& path) {
  struct stat opened = {};
  struct stat named = {};
  return fstat(descriptor, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

/// The lock lies beside the file itself, so that a store is locked under the names of all links to
/// it too.
std::filesystem::path lock_of(const std::filesystem::path& store) {
  std::error_code error;
  const bool link = std::filesystem::is_symlink(store, error);
  const std::filesystem::path file = link ? std::filesystem::canonical(store, error) : store;
  if (error && link) throw IoError(store.string(), "is a link that leads nowhere");
  return file.string() + ".lock";
}

}  // namespace

WriterLock::WriterLock(const std::filesystem::path& store) : path_(lock_of(store)) {
  while (!try_lock(store)) {
  }
  // This serves only the message of a second writer, so a failure does not matter.
  const std::string text = fmt::format("{}{} on {}", first_word, getpid(), host_name());
  if (ftruncate(descriptor_, 0) == 0) {
    [[maybe_unused]] const ssize_t ignored = pwrite(descriptor_, text.data(), text.size(), 0);
  }
}

/// Returns false when the last holder removed the file while we waited for it.
bool WriterLock::try_lock(const std::filesystem::path& store) {
  const int descriptor =
      open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  const int problem = errno;
  if (descriptor >= 0 ? !is_lock(descriptor) : problem == ELOOP || problem == EISDIR) {
    if (descriptor >= 0) close(descriptor);
    throw IoError(path_.string(),
                  "is in the place of the lock of the store and is none; move it away");
  }
  if (descriptor < 0) {
    throw IoError(store.string(),
                  "cannot write in its folder: " + std::generic_category().message(problem));
  }
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const std::string who = holder(descriptor);  // empty if the holder took the lock just now
    close(descriptor);
    throw IoError(store.string(),
                  error == EWOULDBLOCK
                      ? "is being written by " + (who.empty() ? "another process" : who)
                      : "cannot be locked: " + std::generic_category().message(error));
  }
  if (!is_still_there(descriptor, path_)) {
    close(descriptor);
    return false;
  }
  descriptor_ = descriptor;
  return true;
}

WriterLock::~WriterLock() {
  if (descriptor_ < 0) return;
  unlink(path_.c_str());  // the lock is still held, so whoever opened the file before tries again
  close(descriptor_);
}

}  // namespace onset::study
