#include "study/store/sqlite.hpp"

#include <fmt/format.h>

#include <chrono>
#include <system_error>
#include <thread>

#include "onset/core/error.hpp"
#include "study/store/guarded_files.hpp"
#include "study/store/journal.hpp"

namespace onset::study::sqlite {
namespace {

/// The longest wait for a reader or writer that holds the file; both hold it for moments only.
constexpr std::chrono::milliseconds longest_wait{60'000};
/// The time between two tries, and until a stop request takes effect.
constexpr std::chrono::milliseconds wait_between_tries{10};

/// SQLite calls this while another program holds the file, to ask whether to try again.
int try_again(void* stop_token, int tries) {
  if (static_cast<const std::stop_token*>(stop_token)->stop_requested()) return 0;
  if (tries * wait_between_tries >= longest_wait) return 0;
  std::this_thread::sleep_for(wait_between_tries);
  return 1;
}

int open_flags(Database::Mode mode) {
  switch (mode) {
    case Database::Mode::read: return SQLITE_OPEN_READONLY;
    case Database::Mode::write: return SQLITE_OPEN_READWRITE;
    case Database::Mode::memory: return SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY;
  }
  return SQLITE_OPEN_READONLY;
}

std::string explanation(int code, sqlite3* handle) {
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return "the store is damaged and was left as it is";
    case SQLITE_FULL: return "cannot write: the disk is full";
    case SQLITE_BUSY: return "another program keeps the store locked";
    default: break;
  }
  if (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY) {
    return "its last writer was killed, and the file cannot be written here to clean up after it; "
           "open it once where it can be written";
  }
  std::string out = handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  const int system = handle ? sqlite3_system_errno(handle) : 0;
  if (system != 0) out += fmt::format(" ({})", std::generic_category().message(system));
  return out;
}

/// Of a journal that it cannot make SQLite keeps the wrong reason: it then tries to open it for
/// reading, and says that it is not there.
constexpr const char* no_journal =
    "cannot write: its journal cannot be made; the disk is full or failing, or the folder cannot "
    "be written";

}  // namespace

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) database.fail(code);
}

Statement& Statement::bind(int index, std::string_view text) {
  const int code = sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) database_.fail(code);
  return *this;
}

Statement& Statement::bind(int index, std::int64_t whole) {
  const int code = sqlite3_bind_int64(statement_.get(), index, whole);
  if (code != SQLITE_OK) database_.fail(code);
  return *this;
}

Statement& Statement::bind(int index, double real) {
  const int code = sqlite3_bind_double(statement_.get(), index, real);
  if (code != SQLITE_OK) database_.fail(code);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.fail(code);
  return false;
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

void Statement::require_kind(int column, bool fits) const {
  if (fits) return;
  throw IoError(database_.path().string(),
                fmt::format("the store is damaged: its column '{}' holds a value of another kind",
                            sqlite3_column_name(statement_.get(), column)));
}

std::string Statement::text(int column) const {
  const int kind = sqlite3_column_type(statement_.get(), column);
  require_kind(column, kind == SQLITE_TEXT);
  const auto* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes ? std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size))
               : std::string();
}

std::int64_t Statement::whole(int column) const {
  require_kind(column, sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER);
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
  require_kind(column, sqlite3_column_type(statement_.get(), column) == SQLITE_FLOAT);
  return sqlite3_column_double(statement_.get(), column);
}

Database::Database(std::filesystem::path path, Mode mode, std::stop_token stop)
    : path_(std::move(path)), stop_(std::make_unique<std::stop_token>(std::move(stop))) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(mode == Mode::memory ? ":memory:" : path_.c_str(), &handle,
                                   open_flags(mode) | SQLITE_OPEN_EXRESCODE, guarded_files());
  handle_.reset(handle);
  if (code != SQLITE_OK) throw IoError(path_.string(), explanation(code, handle));
  sqlite3_busy_handler(handle, try_again, stop_.get());
}

void Database::execute(const char* sql) {
  const int code = sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::string Database::bytes() {
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> copy(
      sqlite3_serialize(handle(), "main", &size, 0), sqlite3_free);
  if (!copy) fail(SQLITE_NOMEM);
  return {reinterpret_cast<const char*>(copy.get()), static_cast<std::size_t>(size)};
}

void Database::require_journal(int code) const {
  if ((code & 0xff) != SQLITE_IOERR && (code & 0xff) != SQLITE_CANTOPEN) return;
  const char* file = sqlite3_db_filename(handle(), "main");
  if (file == nullptr || *file == '\0') return;
  const char* journal = sqlite3_filename_journal(file);
  if (const char* problem = journal_problem(journal)) throw IoError(journal, problem);
}

void Database::fail(int code) const {
  if ((code & 0xff) == SQLITE_BUSY && stop_->stop_requested()) throw Interrupted();
  require_journal(code);
  // The store itself is open by now.
  if ((code & 0xff) == SQLITE_CANTOPEN) throw IoError(path_.string(), no_journal);
  throw IoError(path_.string(), explanation(code, handle_.get()));
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  // Some errors have rolled back already; then there is nothing left to do.
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace onset::study::sqlite
