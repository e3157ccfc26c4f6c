#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "onset/study/store.hpp"
#include "study/sqlite.hpp"
#include "study/writer_lock.hpp"

namespace onset::study {

/// The open file of a store; write() leaves transactions to the caller.
class Store::File {
 public:
  File(std::filesystem::path path, Mode mode, std::stop_token stop = {});

  void write(const PointRecord& record);
  void write(const StudyRecord& study);

  [[nodiscard]] std::optional<PointRecord> find(const std::string& key);
  [[nodiscard]] std::map<std::string, PointStatus> statuses();
  [[nodiscard]] std::vector<std::string> keys();
  [[nodiscard]] std::vector<StudyRecord> studies();

  [[nodiscard]] sqlite::Database& database() { return *database_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  [[nodiscard]] std::vector<StudyRecord::Entry> entries(std::int64_t study);

  std::filesystem::path path_;
  std::optional<WriterLock> lock_;  // outlives the database: taken before it, given back after it
  std::optional<sqlite::Database> database_;
};

}  // namespace onset::study
