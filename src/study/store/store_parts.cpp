#include "study/store/store_parts.hpp"

#include "study/store/store_file.hpp"

namespace onset::study {

using sqlite::Statement;

namespace {

/// The study with the points that the statement finds: their keys and axis values.
StudyRecord record_with(Statement& points, StudyRow row, const std::filesystem::path& path) {
  while (points.step()) row.points.push_back({points.text(0), points.text(1)});
  return decoded(path, "study " + in_quotes(row.name), [&] { return from_row(row); });
}

std::string axes_of(sqlite::Database& database, std::int64_t id) {
  Statement axes(database, "SELECT axes FROM studies WHERE id = ?");
  return axes.bind(1, id).step() ? axes.text(0) : "[]";
}

std::int64_t whole(std::size_t number) {
  return static_cast<std::int64_t>(number);
}

}  // namespace

StoreParts::StoreParts(const Store& store) : store_(&store) {
  store.file_->database().execute("BEGIN");
}

StoreParts::~StoreParts() {
  // Nothing was written; what could fail here is of no consequence.
  sqlite3_exec(store_->file_->database().handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

std::vector<StudyHead> StoreParts::studies() const {
  std::vector<StudyHead> out;
  Statement study(store_->file_->database(),
                  "SELECT id, name, command, source, "
                  "(SELECT COUNT(*) FROM study_points WHERE study = studies.id) "
                  "FROM studies ORDER BY id");
  while (study.step()) {
    out.push_back({study.whole(0), study.text(1), study.text(2), study.text(3),
                   static_cast<std::size_t>(study.whole(4))});
  }
  return out;
}

std::map<std::string, std::size_t> StoreParts::counts(const StudyHead& study) const {
  Statement count(store_->file_->database(),
                  "SELECT COALESCE(points.status, 'missing'), COUNT(*) FROM study_points "
                  "LEFT JOIN points ON points.key = study_points.key "
                  "WHERE study = ? GROUP BY 1");
  count.bind(1, study.id);
  std::map<std::string, std::size_t> out;
  while (count.step()) out[count.text(0)] = static_cast<std::size_t>(count.whole(1));
  return out;
}

std::vector<std::string> StoreParts::last_finished(const StudyHead& study,
                                                   std::size_t count) const {
  // A point that is filed, or filed again, gets the largest rowid. The plus keeps SQLite from going
  // through all points of the study by their keys and sorting them.
  Statement point(store_->file_->database(),
                  "SELECT finished FROM points "
                  "WHERE +key IN (SELECT key FROM study_points WHERE study = ?) "
                  "ORDER BY rowid DESC LIMIT ?");
  point.bind(1, study.id).bind(2, whole(count));
  std::vector<std::string> out;
  while (point.step()) out.push_back(point.text(0));
  return out;
}

StudyRecord StoreParts::part(const StudyHead& study, const PointRange& range) const {
  sqlite::Database& database = store_->file_->database();
  Statement point(database,
                  "SELECT key, axis_values FROM study_points WHERE study = ?1 AND position >= ?2 "
                  "AND (position - ?2) % ?3 = 0 ORDER BY position LIMIT ?4");
  point.bind(1, study.id).bind(2, whole(range.first)).bind(3, whole(range.stride));
  point.bind(4, whole(range.count));
  return record_with(point,
                     {study.name, study.command, study.source, axes_of(database, study.id), {}},
                     store_->path());
}

StudyRecord StoreParts::not_ok(const StudyHead& study, const PointRange& range) const {
  sqlite::Database& database = store_->file_->database();
  Statement point(database,
                  "SELECT study_points.key, axis_values FROM study_points "
                  "JOIN points ON points.key = study_points.key "
                  "WHERE study = ? AND points.status <> 'ok' ORDER BY position LIMIT ? OFFSET ?");
  point.bind(1, study.id).bind(2, whole(range.count)).bind(3, whole(range.first));
  return record_with(point,
                     {study.name, study.command, study.source, axes_of(database, study.id), {}},
                     store_->path());
}

}  // namespace onset::study
