#include "study/store/store_format.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/printable.hpp"
#include "io/descriptor.hpp"
#include "io/input_file.hpp"
#include "onset/core/error.hpp"
#include "onset/io/run_folder.hpp"
#include "study/store/journal.hpp"
#include "study/store/point_row.hpp"
#include "study/store/sqlite.hpp"

namespace onset::study {
namespace {

/// "Onst" in SQLite's application_id marks a file as ours.
constexpr std::uint32_t application_id = 0x4f6e7374;
/// The version in SQLite's user_version; it is raised when a reader of the version before could not
/// read the file. Version 1 had no checksums and was never released; a store that calls itself one
/// would be believed without a look.
constexpr std::uint32_t store_version = 2;

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
constexpr std::size_t write_format_offset = 18;
constexpr std::size_t read_format_offset = 19;
constexpr char rollback_journal = 1;  // a write-ahead log is 2
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
  if (version != store_version) {
    in.fail(
        fmt::format("is a store of version {}, and this Onset reads version {}; it was left as "
                    "it is",
                    version, store_version));
  }
  if (header[write_format_offset] != rollback_journal ||
      header[read_format_offset] != rollback_journal) {
    in.fail(
        "keeps a write-ahead log, which stores of Onset do not, so another program has set it; "
        "'PRAGMA journal_mode = DELETE' of SQLite undoes that. It was left as it is");
  }
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
  // A journal that was undone may have brought another one than the header had before.
  sqlite::Statement version(database, "PRAGMA user_version");
  require(version.step() && version.whole(0) == std::int64_t{store_version},
          "it is of another version");
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
  require_columns("points", fmt::format("{}, checksum", point_columns));
  require_columns("studies", "id, name, command, source, axes, checksum");
  require_columns("study_points", "study, position, key, axis_values");
}

void make_store(const std::filesystem::path& path) {
  // SQLite would undo in the new store what was under way in one that is no more.
  const std::filesystem::path journal = path.string() + "-journal";
  if (const char* problem = sqlite::journal_problem(journal.c_str())) {
    throw IoError(journal.string(), problem);
  }
  // One that cannot be read has not been looked at.
  if (access(journal.c_str(), R_OK) != 0 && errno != ENOENT) {
    throw IoError(journal.string(), "cannot be read: " + io::last_error());
  }
  std::error_code problem;
  std::filesystem::remove(journal, problem);
  if (problem) throw IoError(journal.string(), "cannot be removed: " + problem.message());
  sqlite::Database database(path, sqlite::Database::Mode::memory);
  database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                               application_id, store_version)
                       .c_str());
  database.execute(schema);
  io::write_file_atomically(path, database.bytes());
}

}  // namespace onset::study
