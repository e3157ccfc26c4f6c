#include "io/file_status.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <system_error>

#include "onset/core/error.hpp"

namespace onset::io {
namespace {

void require_known(const std::filesystem::path& path, const std::error_code& error) {
  if (error) throw IoError(path.string(), "cannot be reached: " + error.message());
}

}  // namespace

bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  const bool found = std::filesystem::exists(path, error);
  require_known(path, error);
  return found;
}

bool is_taken(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  // That nothing is there is told as an error, too.
  if (status.type() == std::filesystem::file_type::not_found) return false;
  require_known(path, error);
  return true;
}

bool is_folder(const std::filesystem::path& path) {
  if (!is_there(path)) return false;
  std::error_code error;
  const bool folder = std::filesystem::is_directory(path, error);
  require_known(path, error);
  return folder;
}

bool is_plain_file(const std::filesystem::path& path) noexcept {
  struct stat there = {};
  return lstat(path.c_str(), &there) == 0 && S_ISREG(there.st_mode);
}

void require_plain_target(const std::filesystem::path& path) {
  struct stat there = {};
  if (lstat(path.c_str(), &there) != 0 || S_ISREG(there.st_mode)) return;
  const std::string what = S_ISLNK(there.st_mode)   ? "a symbolic link"
                           : S_ISDIR(there.st_mode) ? "a folder"
                                                    : "a device, a pipe or a socket";
  throw IoError(path.string(), fmt::format("is {}; allowed: a plain file, or nothing", what));
}

std::filesystem::path current_folder() {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::current_path(error);
  if (error) throw IoError(".", "the working folder cannot be found: " + error.message());
  return folder;
}

}  // namespace onset::io
