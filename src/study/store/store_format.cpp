#include "study/store/store_format.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/printable.hpp"
#include "io/input_file.hpp"
#include "onset/core/error.hpp"
#include "study/store/point_row.hpp"
#include "study/store/sqlite.hpp"

namespace onset::study {
namespace {

/// "Onst" in SQLite's application_id marks a file as ours.
constexpr std::uint32_t application_id = 0x4f6e7374;
/// The version in SQLite's user_version; it is raised when a reader of the version before could not
/// read the file.
constexpr std::uint32_t store_version = 2;
/// Stores of this version have no checksums. They are read as they are, and get checksums when they
/// are next written.
constexpr std::uint32_t oldest_version = 1;

constexpr const char* schema = R"sql(
CREATE TABLE points (
  key TEXT PRIMARY KEY NOT NULL,  -- hash of command, method and parameters
  command TEXT NOT NULL,
  method INTEGER NOT NULL,
  parameters TEXT NOT NULL,       -- JSON, all effective ones
  status TEXT NOT NULL,           -- ok, unconverged, refused, failed
  reason TEXT NOT NULL,
  result TEXT NOT NULL,           -- JSON: columns and rows
  summary TEXT NOT NULL,          -- JSON
  notes TEXT NOT NULL,            -- JSON
  version TEXT NOT NULL,          -- of Onset
  simd TEXT NOT NULL,
  seconds REAL NOT NULL,
  threads INTEGER NOT NULL,
  host TEXT NOT NULL,
  finished TEXT NOT NULL,         -- UTC
  checksum TEXT NOT NULL          -- of all the others
);
CREATE TABLE studies (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  command TEXT NOT NULL,
  source TEXT NOT NULL,           -- the study file
  axes TEXT NOT NULL,             -- JSON: names of the parameters that vary
  checksum TEXT NOT NULL          -- of all this and of the study's points
);
CREATE TABLE study_points (
  study INTEGER NOT NULL REFERENCES studies (id),
  position INTEGER NOT NULL,
  key TEXT NOT NULL,              -- of a point, whether it is computed yet or not
  axis_values TEXT NOT NULL,      -- JSON
  PRIMARY KEY (study, position)
) WITHOUT ROWID;
)sql";

// The places of these numbers in SQLite's header (https://www.sqlite.org/fileformat.html).
constexpr std::size_t header_bytes = 100;
constexpr std::size_t version_offset = 60;
constexpr std::size_t application_offset = 68;
constexpr std::string_view magic{"SQLite format 3\0", 16};

std::uint32_t big_endian(const std::array<char, header_bytes>& bytes, std::size_t offset) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    out = (out << 8) | static_cast<unsigned char>(bytes[offset + i]);
  }
  return out;
}

}  // namespace

void check_store_header(const std::filesystem::path& path) {
  io::InputFile in(path);
  std::array<char, header_bytes> header{};
  if (in.read(header.data(), header.size()) != header.size() ||
      std::string_view(header.data(), magic.size()) != magic ||
      big_endian(header, application_offset) != application_id) {
    in.fail("is not a store of Onset; it was left as it is");
  }
  const std::uint32_t version = big_endian(header, version_offset);
  if (version < oldest_version || version > store_version) {
    in.fail(
        fmt::format("is a store of version {}, and this Onset reads version {} and {}; it was "
                    "left as it is",
                    version, oldest_version, store_version));
  }
}

bool has_checksums(sqlite::Database& database) {
  sqlite::Statement version(database, "PRAGMA user_version");
  return version.step() && version.whole(0) > std::int64_t{oldest_version};
}

void check_tables(sqlite::Database& database) {
  const auto require = [&](bool fits, const std::string& problem) {
    if (fits) return;
    throw IoError(database.path().string(),
                  fmt::format("is not a store of Onset, or is damaged: {}", problem));
  };
  sqlite::Statement encoding(database, "PRAGMA encoding");
  require(encoding.step() && encoding.text(0) == "UTF-8", "its text is not UTF-8");
  // Views and virtual tables have no page of their own; they and triggers would run what somebody
  // else wrote.
  sqlite::Statement entry(database, "SELECT type, name, rootpage FROM sqlite_schema");
  while (entry.step()) {
    const std::string type = entry.text(0);
    require((type == "table" || type == "index") && entry.whole(2) > 0,
            fmt::format("it has {} {}, and a store has plain tables only",
                        type == "table" ? "the virtual table" : printable("the " + type),
                        in_quotes(entry.text(1))));
  }
  const bool checked = has_checksums(database);
  const auto require_columns = [&](const char* table, std::string_view wanted) {
    std::vector<std::string> names;
    // The columns that are not hidden are the plain ones, which are not computed from others.
    sqlite::Statement column(database, "SELECT name, hidden FROM pragma_table_xinfo(?)");
    column.bind(1, std::string_view(table));
    bool plain = true;
    while (column.step()) {
      names.push_back(column.text(0));
      plain = plain && column.whole(1) == 0;
    }
    require(!names.empty(), fmt::format("it has no table '{}'", table));
    require(plain && fmt::format("{}", fmt::join(names, ", ")) == wanted,
            fmt::format("its table '{}' has other columns than that of a store", table));
  };
  const std::string_view last = checked ? ", checksum" : "";
  require_columns("points", fmt::format("{}{}", point_columns, last));
  require_columns("studies", fmt::format("id, name, command, source, axes{}", last));
  require_columns("study_points", "study, position, key, axis_values");
}

void add_checksum_columns(sqlite::Database& database) {
  database.execute(
      "ALTER TABLE points ADD COLUMN checksum TEXT NOT NULL DEFAULT '';"
      "ALTER TABLE studies ADD COLUMN checksum TEXT NOT NULL DEFAULT '';");
  database.execute(fmt::format("PRAGMA user_version = {}", store_version).c_str());
}

void make_store(const std::filesystem::path& path) {
  const std::filesystem::path fresh = path.string() + ".new";
  const std::filesystem::path journal = fresh.string() + "-journal";
  const auto remove_leftovers = [&] {
    std::error_code ignored;
    std::filesystem::remove(fresh, ignored);
    std::filesystem::remove(journal, ignored);
  };
  remove_leftovers();  // what a process left that was killed here
  // SQLite would undo in the new store what was under way in one that is no more.
  const std::filesystem::path old_journal = path.string() + "-journal";
  std::error_code problem;
  std::filesystem::remove(old_journal, problem);
  if (problem) throw IoError(old_journal.string(), "cannot be removed: " + problem.message());
  try {
    sqlite::Database database(fresh, sqlite::Database::Mode::create);
    sqlite::Transaction transaction(database);
    database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                 application_id, store_version)
                         .c_str());
    database.execute(schema);
    transaction.commit();
  } catch (const IoError& error) {
    remove_leftovers();
    throw IoError(path.string(), std::string(error.what()).substr(error.path().size() + 2));
  }
  std::filesystem::rename(fresh, path, problem);
  if (problem) {
    remove_leftovers();
    throw IoError(path.string(), "cannot be made: " + problem.message());
  }
}

}  // namespace onset::study
