#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "onset/study/store.hpp"

namespace onset::study {

/// A point as the columns of the store have it.
struct PointRow {
  std::string key;
  std::string command;
  std::int64_t method = 1;
  std::string parameters;  ///< JSON, as are result, summary and notes
  std::string status;
  std::string reason;
  std::string result;
  std::string summary;
  std::string notes;
  std::string version;
  std::string simd;
  double seconds = 0.0;
  std::int64_t threads = 1;
  std::string host;
  std::string finished;
};

inline constexpr std::string_view point_columns =
    "key, command, method, parameters, status, reason, result, summary, notes, version, simd, "
    "seconds, threads, host, finished";
inline constexpr int point_column_count = 15;

/// Calls action(field) for every field, in the order of `point_columns`.
template <class Row, class Action>
void for_each_column(Row& row, Action action) {
  action(row.key);
  action(row.command);
  action(row.method);
  action(row.parameters);
  action(row.status);
  action(row.reason);
  action(row.result);
  action(row.summary);
  action(row.notes);
  action(row.version);
  action(row.simd);
  action(row.seconds);
  action(row.threads);
  action(row.host);
  action(row.finished);
}

[[nodiscard]] PointRow to_row(const PointRecord& record);
/// Throws some std::exception when a field does not hold what it must.
[[nodiscard]] PointRecord from_row(const PointRow& row);

/// Key, status and table alone.
[[nodiscard]] PointRecord rows_of(const PointRow& row);

/// The checksum by which a row that was changed by others, or damaged, stands out.
[[nodiscard]] std::string checksum(const PointRow& row);

}  // namespace onset::study
