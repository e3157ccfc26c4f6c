#include "onset/study/store.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "onset/core/error.hpp"
#include "onset/core/words.hpp"
#include "study/codec.hpp"
#include "study/store_file.hpp"
#include "study/store_format.hpp"

namespace onset::study {

using codec::Json;
using sqlite::Database;
using sqlite::Statement;

namespace {

/// A reader needs to write where a killed writer left a half-done transaction to be undone.
Database::Mode reading_mode(const std::filesystem::path& path) {
  return access(path.c_str(), W_OK) == 0 ? Database::Mode::write : Database::Mode::read;
}

/// Full synchronisation, of the folder too, and no shared memory: what network file systems can do.
void prepare_for_writing(Database& database) {
  database.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA;");
  Statement check(database, "PRAGMA quick_check(1)");
  if (!check.step() || check.text(0) != "ok") {
    throw IoError(database.path().string(), "the store is damaged and was left as it is");
  }
}

/// Decoding errors with the file's name.
template <class Decode>
auto decoded(const std::filesystem::path& path, Decode decode) {
  try {
    return decode();
  } catch (const IoError&) {
    throw;
  } catch (const std::exception& error) {
    throw IoError(path.string(), std::string("the store is damaged: ") + error.what());
  }
}

}  // namespace

Store::File::File(std::filesystem::path path, Mode mode, std::stop_token stop)
    : path_(std::move(path)) {
  if (mode == Mode::read) {
    check_store_header(path_);
    database_.emplace(path_, reading_mode(path_), std::move(stop));
    database_->execute("PRAGMA query_only = ON");
    return;
  }
  std::error_code error;
  const bool exists = std::filesystem::exists(path_, error);
  if (exists) check_store_header(path_);
  lock_.emplace(path_);
  // Once more under the lock: another writer may have made it meanwhile.
  if (!std::filesystem::exists(path_, error)) make_store(path_);
  database_.emplace(path_, Database::Mode::write, std::move(stop));
  prepare_for_writing(*database_);
}

void Store::File::write(const PointRecord& record) {
  Statement(*database_,
            "INSERT OR REPLACE INTO points (key, command, method, parameters, status, reason, "
            "result, summary, notes, version, simd, seconds, threads, host, finished) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(1, record.key)
      .bind(2, record.command)
      .bind(3, std::int64_t{record.method})
      .bind(4, codec::dump(codec::encode(record.parameters)))
      .bind(5, to_string(record.status))
      .bind(6, record.reason)
      .bind(7, codec::dump(codec::encode(record.table)))
      .bind(8, codec::dump(codec::encode(record.summary)))
      .bind(9, codec::dump(record.notes))
      .bind(10, record.version)
      .bind(11, record.simd)
      .bind(12, record.seconds)
      .bind(13, std::int64_t{record.threads})
      .bind(14, record.host)
      .bind(15, record.finished)
      .run();
}

void Store::File::write(const StudyRecord& study) {
  // Kept in place when it is there: studies() goes by the order of first filing.
  Statement(*database_,
            "INSERT INTO studies (name, command, source, axes) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (name) DO UPDATE SET command = excluded.command, "
            "source = excluded.source, axes = excluded.axes")
      .bind(1, study.name)
      .bind(2, study.command)
      .bind(3, study.source)
      .bind(4, codec::dump(study.axes))
      .run();
  Statement find(*database_, "SELECT id FROM studies WHERE name = ?");
  find.bind(1, study.name).step();
  const std::int64_t id = find.whole(0);
  Statement(*database_, "DELETE FROM study_points WHERE study = ?").bind(1, id).run();
  Statement insert(*database_,
                   "INSERT INTO study_points (study, position, key, axis_values) "
                   "VALUES (?, ?, ?, ?)");
  std::int64_t position = 0;
  for (const StudyRecord::Entry& entry : study.points) {
    Json values = Json::array();
    for (const Value& value : entry.axis_values) values.push_back(codec::encode(value));
    insert.bind(1, id).bind(2, position++).bind(3, entry.key).bind(4, codec::dump(values)).run();
  }
}

std::optional<PointRecord> Store::File::find(const std::string& key) {
  Statement row(*database_,
                "SELECT command, method, parameters, status, reason, result, summary, notes, "
                "version, simd, seconds, threads, host, finished FROM points WHERE key = ?");
  if (!row.bind(1, key).step()) return std::nullopt;
  return decoded(path_, [&] {
    PointRecord record;
    record.key = key;
    record.command = row.text(0);
    record.method = static_cast<int>(row.whole(1));
    record.parameters = codec::decode_parameters(Json::parse(row.text(2)));
    record.status = codec::decode_status(row.text(3));
    record.reason = row.text(4);
    record.table = codec::decode_table(Json::parse(row.text(5)));
    record.summary = codec::decode_summary(Json::parse(row.text(6)));
    record.notes = Json::parse(row.text(7)).get<std::vector<std::string>>();
    record.version = row.text(8);
    record.simd = row.text(9);
    record.seconds = row.real(10);
    record.threads = static_cast<int>(row.whole(11));
    record.host = row.text(12);
    record.finished = row.text(13);
    return record;
  });
}

std::map<std::string, PointStatus> Store::File::statuses() {
  std::map<std::string, PointStatus> out;
  Statement row(*database_, "SELECT key, status FROM points");
  while (row.step()) {
    out[row.text(0)] = decoded(path_, [&] { return codec::decode_status(row.text(1)); });
  }
  return out;
}

std::vector<std::string> Store::File::keys() {
  std::vector<std::string> out;
  Statement row(*database_, "SELECT key FROM points ORDER BY key");
  while (row.step()) out.push_back(row.text(0));
  return out;
}

std::vector<StudyRecord::Entry> Store::File::entries(std::int64_t study) {
  std::vector<StudyRecord::Entry> out;
  Statement row(*database_,
                "SELECT key, axis_values FROM study_points WHERE study = ? ORDER BY position");
  row.bind(1, study);
  while (row.step()) {
    StudyRecord::Entry entry;
    entry.key = row.text(0);
    decoded(path_, [&] {
      for (const Json& value : Json::parse(row.text(1))) {
        entry.axis_values.push_back(codec::decode_value(value));
      }
      return true;
    });
    out.push_back(std::move(entry));
  }
  return out;
}

std::vector<StudyRecord> Store::File::studies() {
  std::vector<StudyRecord> out;
  Statement row(*database_, "SELECT id, name, command, source, axes FROM studies ORDER BY id");
  while (row.step()) {
    StudyRecord study;
    study.name = row.text(1);
    study.command = row.text(2);
    study.source = row.text(3);
    study.axes =
        decoded(path_, [&] { return Json::parse(row.text(4)).get<std::vector<std::string>>(); });
    study.points = entries(row.whole(0));
    out.push_back(std::move(study));
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
  throw InvalidArgument("study", fmt::format("{} has no study '{}'; it has {}{}", file, name,
                                             fmt::join(names, ", "), suggestion(name, names)));
}

StudyRecord record_of(const Plan& plan) {
  StudyRecord record{plan.study.name, plan.study.command, plan.study.source, plan.axes, {}};
  for (const Point& point : plan.points) record.points.push_back({point.key, point.axis_values});
  return record;
}

}  // namespace onset::study
