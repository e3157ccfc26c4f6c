#include "study/store/guarded_files.hpp"

#include <sqlite3.h>

#include <string_view>

#include "onset/core/error.hpp"
#include "study/store/journal.hpp"

namespace onset::study::sqlite {
namespace {

sqlite3_vfs* plain_files() {
  static sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
  return vfs;
}

int open_guarded(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  const bool is_foreign = (flags & (SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL)) != 0;
  const bool is_journal = (flags & SQLITE_OPEN_MAIN_JOURNAL) != 0;
  if (is_foreign || (is_journal && journal_problem(name) != nullptr)) {
    file->pMethods = nullptr;  // says that there is nothing to close
    return SQLITE_CANTOPEN;
  }
  return plain_files()->xOpen(plain_files(), name, file, flags, out_flags);
}

/// SQLite asks for a journal before everything that it reads.
int look_at_guarded(sqlite3_vfs*, const char* name, int flags, int* out) {
  const std::string_view path = name;
  if (path.ends_with("-wal")) {
    *out = 0;
    return SQLITE_OK;
  }
  if (path.ends_with("-journal") && journal_problem(name) != nullptr) return SQLITE_IOERR_ACCESS;
  return plain_files()->xAccess(plain_files(), name, flags, out);
}

}  // namespace

const char* guarded_files() {
  static sqlite3_vfs guarded = [] {
    sqlite3_vfs vfs = *plain_files();
    vfs.pNext = nullptr;
    vfs.zName = "onset";
    vfs.xOpen = open_guarded;
    vfs.xAccess = look_at_guarded;
    return vfs;
  }();
  static const int code = sqlite3_vfs_register(&guarded, 0);
  if (code != SQLITE_OK) throw IoError("SQLite", sqlite3_errstr(code));
  return guarded.zName;
}

}  // namespace onset::study::sqlite
