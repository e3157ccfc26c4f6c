#pragma once

#include <string>
#include <vector>

#include "onset/study/store.hpp"

namespace onset::study {

/// A study as the columns of the store have it.
struct StudyRow {
  std::string name;
  std::string command;
  std::string source;
  std::string axes;  ///< JSON
  struct Entry {
    std::string key;
    std::string axis_values;  ///< JSON
  };
  std::vector<Entry> points;
};

[[nodiscard]] StudyRow to_row(const StudyRecord& study);
/// Throws some std::exception when a field does not hold what it must: a value for each axis, say.
[[nodiscard]] StudyRecord from_row(const StudyRow& row);

/// The checksum by which a study that was changed by others, or damaged, stands out.
[[nodiscard]] std::string checksum(const StudyRow& row);

}  // namespace onset::study
