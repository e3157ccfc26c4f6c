#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "onset/core/error.hpp"

/// What the fuzzers share. A fuzzer gives one reader whatever bytes it is given. The reader may
/// refuse them with an error that its header names; a crash, a hang, a leak, undefined behaviour
/// and any other exception are findings.
namespace onset::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the process, as a finding, where a property of the reader does not hold.
inline void require(bool holds) {
  if (!holds) std::abort();
}

/// Lets the reader refuse its input as a file or as a value.
template <class Read>
void may_refuse(const Read& read) {
  try {
    read();
  } catch (const InvalidArgument&) {
  } catch (const IoError&) {
  }
}

/// A folder with one file, for readers that want a path; it is gone at the end.
class OneFile {
 public:
  explicit OneFile(std::string name) : name_(std::move(name)) {
    std::string pattern = (std::filesystem::temp_directory_path() / "onset-fuzz-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  OneFile(const OneFile&) = delete;
  OneFile& operator=(const OneFile&) = delete;
  ~OneFile() { std::filesystem::remove_all(folder_); }

  void write(std::string_view content) const {
    std::ofstream(path(), std::ios::binary).write(content.data(), std::ssize(content));
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path path() const { return folder_ / name_; }

 private:
  std::filesystem::path folder_;
  std::string name_;
};

}  // namespace onset::fuzz

/// What libFuzzer, or replay.cpp in its place, calls with every input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
