#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/printable.hpp"
#include "onset/core/error.hpp"
#include "study/store/codec.hpp"
#include "study/store/store_file.hpp"

namespace onset::study {
namespace {

/// The name of a point, such as "smi curve (alpha = 0.1, layers = 2)".
std::string name_of(const PointRecord& record) {
  std::vector<std::string> values;
  for (const auto& [name, value] : record.parameters.values()) {
    values.push_back(name + " = " + to_text(value));
  }
  return fmt::format("{} ({})", record.command, fmt::join(values, ", "));
}

/// The result without the details of its run.
std::string result_of(const PointRecord& record) {
  return io::json_line({codec::encode(record.table), codec::encode(record.summary)});
}

std::string cell_text(const Cell& cell) {
  return io::json_line(codec::encode(cell));
}

/// The first difference of two results, such as "row 2, alpha: [0.5,0.1] and [0.6,0.1]".
std::string first_difference(const PointRecord& a, const PointRecord& b) {
  const std::size_t rows = std::min(a.table.rows().size(), b.table.rows().size());
  for (std::size_t r = 0; r < rows; ++r) {
    const auto& left = a.table.rows()[r];
    const auto& right = b.table.rows()[r];
    for (std::size_t c = 0; c < std::min(left.size(), right.size()); ++c) {
      const std::string x = cell_text(left[c]);
      const std::string y = cell_text(right[c]);
      if (x != y) {
        return fmt::format("row {}, {}: {} and {}", r + 1, a.table.columns()[c].name, x, y);
      }
    }
  }
  if (a.table.rows().size() != b.table.rows().size()) {
    return fmt::format("{} and {} rows", a.table.rows().size(), b.table.rows().size());
  }
  return fmt::format("summary: {} and {}", io::json_line(codec::encode(a.summary)),
                     io::json_line(codec::encode(b.summary)));
}

/// Whether `theirs` is to take the place of `ours`.
bool is_better(const PointRecord& theirs, const PointRecord& ours, const std::string& file) {
  if (theirs.status != ours.status) return theirs.status < ours.status;
  const bool has_result = ours.status == PointStatus::ok || ours.status == PointStatus::unconverged;
  if (has_result && result_of(theirs) != result_of(ours)) {
    throw IoError(file, fmt::format("has another result for {}; {}. Nothing was merged",
                                    name_of(ours), first_difference(ours, theirs)));
  }
  return false;
}

std::set<std::string> keys_of(const StudyRecord& study) {
  std::set<std::string> keys;
  for (const StudyRecord::Entry& entry : study.points) keys.insert(entry.key);
  return keys;
}

bool is_larger(const StudyRecord& theirs, const StudyRecord& ours, const std::string& file) {
  const std::set<std::string> a = keys_of(theirs);
  const std::set<std::string> b = keys_of(ours);
  if (std::includes(b.begin(), b.end(), a.begin(), a.end())) return false;
  if (std::includes(a.begin(), a.end(), b.begin(), b.end())) return true;
  throw IoError(file, fmt::format("has another study {}: neither has all the points of the "
                                  "other. Nothing was merged",
                                  in_quotes(ours.name)));
}

}  // namespace

void merge(Store& into, const std::vector<std::filesystem::path>& from) {
  Store::File& ours = *into.file_;
  sqlite::Transaction transaction(ours.database());
  for (const std::filesystem::path& path : from) {
    Store::File theirs(path, Store::Mode::read);
    for (const std::string& key : theirs.keys()) {
      const std::optional<PointRecord> record = theirs.find(key);
      if (!record) {
        throw IoError(path.string(), fmt::format("the store is damaged: it lists the point {} and "
                                                 "does not find it. Nothing was merged",
                                                 in_quotes(key)));
      }
      const std::optional<PointRecord> present = ours.find(key);
      if (!present || is_better(*record, *present, path.string())) ours.write(*record);
    }
    const std::vector<StudyRecord> known = ours.studies();
    for (const StudyRecord& study : theirs.studies()) {
      const auto present = std::find_if(known.begin(), known.end(), [&](const StudyRecord& other) {
        return other.name == study.name;
      });
      if (present == known.end() || is_larger(study, *present, path.string())) ours.write(study);
    }
  }
  transaction.commit();
}

}  // namespace onset::study
