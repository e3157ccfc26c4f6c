#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "io/descriptor.hpp"

namespace onset::io {

/// A regular file that is open for reading from its beginning. Every error is an IoError that names
/// its path.
class InputFile {
 public:
  /// Throws where the file cannot be opened or is something else: a folder, a pipe, a device.
  explicit InputFile(std::filesystem::path path);

  /// Reads the next bytes, as many as asked for unless the file ends before, and returns how many
  /// there were.
  std::size_t read(char* out, std::size_t count);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The number of bytes when it was opened; the kernel's own files (/proc) report 0 and have more.
  [[nodiscard]] std::size_t size() const { return size_; }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
  std::size_t size_ = 0;
};

}  // namespace onset::io
