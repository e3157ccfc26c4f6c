// A library to be loaded before libc (LD_PRELOAD): lets the K-th call that changes a file under a
// folder go wrong, so that a test can walk through all of them. Nothing else is touched: neither
// pipes, terminals and files in memory nor files elsewhere.
//
//   ONSET_FAULT         KIND:K, where KIND is
//                         full    no room from the K-th call on: ENOSPC for what needs some
//                         error   the K-th call alone fails with EIO
//                         short   the K-th call, if it writes, writes half of what it was given
//                         kill    the process is killed (SIGKILL) instead of the K-th call
//   ONSET_FAULT_FOLDER  absolute path of the folder
//   ONSET_FAULT_LOG     file to which "reached CALL PATH" and "failed CALL PATH" are added

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

struct Plan {
  std::string_view kind;
  long at = 0;
  std::string_view folder;
  const char* log = nullptr;
};

Plan read_plan() {
  const char* fault = std::getenv("ONSET_FAULT");
  const char* folder = std::getenv("ONSET_FAULT_FOLDER");
  const char* log = std::getenv("ONSET_FAULT_LOG");
  if (fault == nullptr || folder == nullptr || log == nullptr) return {};
  const std::string_view text(fault);
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  return {text.substr(0, colon), std::atol(fault + colon + 1), folder, log};
}

const Plan& plan() {
  static const Plan read = read_plan();
  return read;
}

std::atomic<long> calls{0};

// By the system calls themselves, so that the notes are no calls to be counted.
void note(const char* what, const char* call, std::string_view path) {
  const std::string line = std::string(what) + " " + call + " " + std::string(path) + "\n";
  const long file = syscall(SYS_open, plan().log, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (file < 0) return;
  syscall(SYS_write, file, line.data(), line.size());
  syscall(SYS_close, file);
}

std::string path_of(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  char path[4096];
  const ssize_t size = readlink(link.c_str(), path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

enum class Fate { goes_well, fails, is_halved };

/// What becomes of a call that changes a file; sets errno where it fails.
Fate fate_of(const char* call, std::string_view path, bool needs_room) {
  if (plan().at == 0 || !path.starts_with(plan().folder)) return Fate::goes_well;
  const long count = ++calls;
  if (count == plan().at) note("reached", call, path);
  if (count == plan().at && plan().kind == "kill") kill(getpid(), SIGKILL);
  if (count == plan().at && plan().kind == "short") return Fate::is_halved;
  const bool no_room = plan().kind == "full" && count >= plan().at && needs_room;
  const bool broken = plan().kind == "error" && count == plan().at;
  if (!no_room && !broken) return Fate::goes_well;
  note("failed", call, path);
  errno = no_room ? ENOSPC : EIO;
  return Fate::fails;
}

bool fails(const char* call, std::string_view path, bool needs_room) {
  return fate_of(call, path, needs_room) == Fate::fails;
}

template <class Function>
Function original(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

using Open = int (*)(const char*, int, ...);

int open_file(const char* name, const char* path, int flags, mode_t mode) {
  struct stat there {};
  const bool makes = (flags & O_CREAT) != 0 && lstat(path, &there) != 0;
  if (makes && fails("open", path, true)) return -1;
  static const auto plain = original<Open>("open");
  static const auto large = original<Open>("open64");
  return (std::string_view(name) == "open" ? plain : large)(path, flags, mode);
}

/// How many bytes a write may write; -1 where it fails.
ssize_t allowed(const char* call, int descriptor, std::size_t size) {
  switch (fate_of(call, path_of(descriptor), true)) {
    case Fate::goes_well: return static_cast<ssize_t>(size);
    case Fate::fails: return -1;
    case Fate::is_halved: return static_cast<ssize_t>((size + 1) / 2);
  }
  return -1;
}

bool truncation_fails(int descriptor, off_t size) {
  struct stat now {};
  const bool grows = fstat(descriptor, &now) == 0 && size > now.st_size;
  return fails("ftruncate", path_of(descriptor), grows);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file("open64", path, flags, mode);
}

ssize_t write(int descriptor, const void* data, size_t size) {
  static const auto next = original<ssize_t (*)(int, const void*, size_t)>("write");
  const ssize_t part = allowed("write", descriptor, size);
  return part < 0 ? -1 : next(descriptor, data, static_cast<size_t>(part));
}

ssize_t pwrite(int descriptor, const void* data, size_t size, off_t offset) {
  static const auto next = original<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  const ssize_t part = allowed("pwrite", descriptor, size);
  return part < 0 ? -1 : next(descriptor, data, static_cast<size_t>(part), offset);
}

ssize_t pwrite64(int descriptor, const void* data, size_t size, off64_t offset) {
  return pwrite(descriptor, data, size, offset);
}

int ftruncate(int descriptor, off_t size) noexcept {
  static const auto next = original<int (*)(int, off_t)>("ftruncate");
  return truncation_fails(descriptor, size) ? -1 : next(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) noexcept {
  return ftruncate(descriptor, size);
}

int fsync(int descriptor) {
  static const auto next = original<int (*)(int)>("fsync");
  return fails("fsync", path_of(descriptor), true) ? -1 : next(descriptor);
}

int fdatasync(int descriptor) {
  static const auto next = original<int (*)(int)>("fdatasync");
  return fails("fdatasync", path_of(descriptor), true) ? -1 : next(descriptor);
}

int rename(const char* from, const char* to) noexcept {
  static const auto next = original<int (*)(const char*, const char*)>("rename");
  return fails("rename", to, true) ? -1 : next(from, to);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static const auto next = original<int (*)(const char*, mode_t)>("mkdir");
  return fails("mkdir", path, true) ? -1 : next(path, mode);
}

int unlink(const char* path) noexcept {
  static const auto next = original<int (*)(const char*)>("unlink");
  return fails("unlink", path, false) ? -1 : next(path);
}

int remove(const char* path) noexcept {
  static const auto next = original<int (*)(const char*)>("remove");
  return fails("remove", path, false) ? -1 : next(path);
}

}  // extern "C"
