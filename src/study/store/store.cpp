#include "onset/study/store.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/printable.hpp"
#include "core/suggestion.hpp"
#include "io/descriptor.hpp"
#include "onset/core/error.hpp"
#include "study/store/codec.hpp"
#include "study/store/store_file.hpp"
#include "study/store/store_format.hpp"

namespace onset::study {

using sqlite::Database;
using sqlite::Statement;

namespace {

/// A reader must be able to write where a killed writer left an unfinished transaction, so that it
/// can be undone.
Database::Mode reading_mode(const std::filesystem::path& path) {
  return access(path.c_str(), W_OK) == 0 ? Database::Mode::write : Database::Mode::read;
}

/// Asks for full synchronisation, of the folder too, and no shared memory, which network file
/// systems lack.
void prepare_for_writing(Database& database) {
  database.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA;");
  Statement check(database, "PRAGMA quick_check(1)");
  if (!check.step() || check.text(0) != "ok") {
    throw IoError(database.path().string(), "the store is damaged and was left as it is");
  }
}

std::string name_of(const PointRow& row) {
  if (row.command.empty()) return fmt::format("point {}", in_quotes(row.key));
  return fmt::format("point {} ({})", in_quotes(row.key), printable(row.command));
}

std::string name_of(const StudyRow& row) {
  return fmt::format("study {}", in_quotes(row.name));
}

template <class Row>
void require_checksum(const std::filesystem::path& path, const Row& row, const std::string& given) {
  if (given == checksum(row)) return;
  throw IoError(path.string(), fmt::format("{} does not fit its checksum: the store was changed or "
                                           "damaged after it was written",
                                           name_of(row)));
}

}  // namespace

Store::File::File(std::filesystem::path path, Mode mode, std::stop_token stop)
    : path_(std::move(path)) {
  if (mode == Mode::read) {
    open_for_reading(std::move(stop));
  } else {
    open_for_writing(std::move(stop));
  }
}

void Store::File::open_for_reading(std::stop_token stop) {
  check_store_header(path_);
  database_.emplace(path_, reading_mode(path_), std::move(stop));
  database_->execute("PRAGMA query_only = ON");
  check_tables(*database_);
}

void Store::File::open_for_writing(std::stop_token stop) {
  std::error_code error;
  const bool exists = std::filesystem::exists(path_, error);
  if (exists) check_store_header(path_);
  lock_.emplace(path_);
  // We look once more under the lock, since another writer may have made it meanwhile.
  if (!std::filesystem::exists(path_, error)) make_store(path_);
  database_.emplace(path_, Database::Mode::write, std::move(stop));
  check_tables(*database_);
  prepare_for_writing(*database_);
}

void Store::File::write(const PointRecord& record) {
  statuses_.reset();
  const PointRow row = to_row(record);
  Statement insert(*database_,
                   fmt::format("INSERT OR REPLACE INTO points ({}, checksum) "
                               "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                               point_columns));
  int index = 0;
  for_each_column(row, [&](const auto& field) { insert.bind(++index, field); });
  insert.bind(++index, checksum(row)).run();
}

void Store::File::write(const StudyRecord& study) {
  const StudyRow row = to_row(study);
  const std::string own = checksum(row);
  Statement same(*database_, "SELECT 1 FROM studies WHERE name = ? AND checksum = ?");
  if (same.bind(1, row.name).bind(2, own).step()) return;
  // A study that exists keeps its row, since studies() goes by the order of first filing.
  Statement(*database_,
            "INSERT INTO studies (name, command, source, axes, checksum) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (name) DO UPDATE SET command = excluded.command, "
            "source = excluded.source, axes = excluded.axes, checksum = excluded.checksum")
      .bind(1, row.name)
      .bind(2, row.command)
      .bind(3, row.source)
      .bind(4, row.axes)
      .bind(5, own)
      .run();
  Statement find(*database_, "SELECT id FROM studies WHERE name = ?");
  find.bind(1, row.name).step();
  write_points(find.whole(0), row);
}

void Store::File::write_points(std::int64_t id, const StudyRow& row) {
  Statement(*database_, "DELETE FROM study_points WHERE study = ?").bind(1, id).run();
  Statement insert(*database_,
                   "INSERT INTO study_points (study, position, key, axis_values) "
                   "VALUES (?, ?, ?, ?)");
  std::int64_t position = 0;
  for (const StudyRow::Entry& entry : row.points) {
    insert.bind(1, id).bind(2, position++).bind(3, entry.key).bind(4, entry.axis_values).run();
  }
}

std::string Store::File::select_points(std::string_view rest) const {
  return fmt::format("SELECT {}, checksum FROM points {}", point_columns, rest);
}

PointRow Store::File::read_point(const Statement& at) const {
  PointRow row;
  int column = 0;
  for_each_column(row, [&](auto& field) { at.get(column++, field); });
  require_checksum(path_, row, at.text(column));
  return row;
}

std::optional<PointRecord> Store::File::find(const std::string& key) {
  Statement point(*database_, select_points("WHERE key = ?"));
  if (!point.bind(1, key).step()) return std::nullopt;
  const PointRow row = read_point(point);
  return decoded(path_, name_of(row), [&] { return from_row(row); });
}

void Store::File::each(const StudyRecord& study, const SeePoint& see, Look look) {
  Statement whole(*database_, select_points("WHERE key = ?"));
  Statement rows(*database_, "SELECT status, result FROM points WHERE key = ?");
  for (std::size_t place = 0; place < study.points.size(); ++place) {
    const std::string& key = study.points[place].key;
    Statement& point = look == Look::whole ? whole : rows;
    std::optional<PointRecord> record;
    if (point.bind(1, key).step()) {
      PointRow row;
      if (look == Look::whole) {
        row = read_point(point);
      } else {
        row.key = key;
        point.get(0, row.status);
        point.get(1, row.result);
      }
      record = decoded(path_, name_of(row),
                       [&] { return look == Look::whole ? from_row(row) : rows_of(row); });
    }
    point.reset();
    see(place, record ? &*record : nullptr);
  }
}

std::map<std::string, PointStatus> Store::File::statuses() {
  if (statuses_) return *statuses_;
  std::map<std::string, PointStatus> out;
  Statement point(*database_, select_points(""));
  while (point.step()) {
    const PointRow row = read_point(point);
    out[row.key] = decoded(path_, name_of(row), [&] { return codec::decode_status(row.status); });
  }
  if (lock_) statuses_ = out;
  return out;
}

std::vector<std::string> Store::File::keys() {
  std::vector<std::string> out;
  Statement row(*database_, "SELECT key FROM points ORDER BY key");
  while (row.step()) out.push_back(row.text(0));
  return out;
}

std::vector<std::int64_t> Store::File::study_ids() {
  std::vector<std::int64_t> out;
  Statement row(*database_, "SELECT id FROM studies ORDER BY id");
  while (row.step()) out.push_back(row.whole(0));
  return out;
}

StudyRow Store::File::read_study(std::int64_t id) {
  Statement study(*database_,
                  "SELECT name, command, source, axes, checksum FROM studies WHERE id = ?");
  study.bind(1, id).step();
  StudyRow row{study.text(0), study.text(1), study.text(2), study.text(3), {}};
  Statement point(*database_,
                  "SELECT key, axis_values FROM study_points WHERE study = ? ORDER BY position");
  point.bind(1, id);
  while (point.step()) row.points.push_back({point.text(0), point.text(1)});
  require_checksum(path_, row, study.text(4));
  return row;
}

std::vector<StudyRecord> Store::File::studies() {
  std::vector<StudyRecord> out;
  for (const std::int64_t id : study_ids()) {
    const StudyRow row = read_study(id);
    out.push_back(decoded(path_, name_of(row), [&] { return from_row(row); }));
  }
  return out;
}

Store::Store(std::filesystem::path path, Mode mode, std::stop_token stop)
    : file_(std::make_unique<File>(std::move(path), mode, std::move(stop))) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

const std::filesystem::path& Store::path() const {
  return file_->path();
}

void Store::put(const PointRecord& record) {
  sqlite::Transaction transaction(file_->database());
  file_->write(record);
  transaction.commit();
}

void Store::put(const StudyRecord& study) {
  sqlite::Transaction transaction(file_->database());
  file_->write(study);
  transaction.commit();
}

std::optional<PointRecord> Store::find(const std::string& key) const {
  return file_->find(key);
}

void Store::each(const StudyRecord& study, const SeePoint& see, Look look) const {
  file_->each(study, see, look);
}

std::map<std::string, PointStatus> Store::statuses() const {
  return file_->statuses();
}

std::vector<StudyRecord> Store::studies() const {
  return file_->studies();
}

StudyRecord Store::study(const std::string& name) const {
  std::vector<StudyRecord> all = studies();
  std::vector<std::string> names;
  for (StudyRecord& study : all) {
    if (study.name == name || (name.empty() && all.size() == 1)) return std::move(study);
    names.push_back(study.name);
  }
  const std::string file = path().string();
  if (names.empty()) throw InvalidArgument("study", fmt::format("{} has no studies", file));
  if (name.empty()) {
    throw InvalidArgument(
        "study", fmt::format("{} has several; say which: {}", file, fmt::join(names, ", ")));
  }
  throw InvalidArgument("study",
                        fmt::format("{} has no study {}; it has {}{}", file, in_quotes(name),
                                    fmt::join(names, ", "), suggestion(name, names)));
}

std::optional<Store> open_if_there(const std::filesystem::path& path, std::stop_token stop) {
  struct stat there = {};
  if (lstat(path.c_str(), &there) != 0) {
    if (errno == ENOENT) return std::nullopt;
    throw IoError(path.string(), "cannot be reached: " + io::last_error());
  }
  return Store(path, Store::Mode::read, std::move(stop));
}

StudyRecord record_of(const Plan& plan) {
  StudyRecord record{plan.study.name, plan.study.command, plan.study.source, plan.axes, {}};
  for (const Point& point : plan.points) record.points.push_back({point.key, point.axis_values});
  return record;
}

}  // namespace onset::study
