#pragma once

#include <filesystem>

namespace onset::study {

/// The right to write a store: an advisory lock on the file `<store>.lock`, which says who holds
/// it, or that of the file that a link leads to. The system gives it back when the process ends,
/// however it ends.
class WriterLock {
 public:
  /// Throws IoError naming the store when another process holds it, the folder is not writable or
  /// the store is a link that leads nowhere.
  explicit WriterLock(const std::filesystem::path& store);
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;
  ~WriterLock();

 private:
  [[nodiscard]] bool try_lock(const std::filesystem::path& store);

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace onset::study
