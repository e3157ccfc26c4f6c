#pragma once

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/printable.hpp"
#include "io/json_text.hpp"
#include "onset/core/error.hpp"
#include "onset/study/store.hpp"
#include "study/store/point_row.hpp"
#include "study/store/sqlite.hpp"
#include "study/store/study_row.hpp"
#include "study/store/writer_lock.hpp"

namespace onset::study {

/// Calls decode(), with errors that name the file and the point or study.
template <class Decode>
auto decoded(const std::filesystem::path& path, const std::string& what, Decode decode) {
  try {
    return decode();
  } catch (const std::exception& error) {
    constexpr std::size_t most = 400;  // parsers repeat what they read, which may be long
    throw IoError(path.string(), fmt::format("the store is damaged: {}: {}", what,
                                             printable(io::plain_reason(error), most)));
  }
}

/// The open file of a store; write() leaves transactions to the caller.
class Store::File {
 public:
  File(std::filesystem::path path, Mode mode, std::stop_token stop = {});

  void write(const PointRecord& record);
  void write(const StudyRecord& study);

  [[nodiscard]] std::optional<PointRecord> find(const std::string& key);
  void each(const StudyRecord& study, const SeePoint& see, Look look);
  [[nodiscard]] std::map<std::string, PointStatus> statuses();
  [[nodiscard]] std::vector<std::string> keys();
  [[nodiscard]] std::vector<StudyRecord> studies();

  [[nodiscard]] sqlite::Database& database() { return *database_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  void open_for_reading(std::stop_token stop);
  void open_for_writing(std::stop_token stop);
  void write_points(std::int64_t id, const StudyRow& row);
  /// "SELECT .. FROM points" with the checksum last, followed by `rest`.
  [[nodiscard]] std::string select_points(std::string_view rest) const;
  /// The row that such a statement is at; throws IoError where it does not fit its checksum.
  [[nodiscard]] PointRow read_point(const sqlite::Statement& at) const;
  [[nodiscard]] std::vector<std::int64_t> study_ids();
  [[nodiscard]] StudyRow read_study(std::int64_t id);

  std::filesystem::path path_;
  std::optional<WriterLock> lock_;  // outlives the database: taken before it, released after it
  std::optional<sqlite::Database> database_;
  /// Statuses that were read, which takes seconds for 1e5 points. They hold until the next write of
  /// this process, and nobody else writes while the lock is held.
  std::optional<std::map<std::string, PointStatus>> statuses_;
};

}  // namespace onset::study
