#pragma once

namespace onset::study::sqlite {

/// The name under which SQLite knows a way to files (a VFS) that opens a database and its journal
/// and nothing else. Whatever a database or a journal of somebody else says,
/// - a journal is opened only where journal_problem() finds none, in the moment before;
/// - no other file that a journal names is opened, and hence none is removed;
/// - `-wal` and `-shm` files, which no store has, are neither opened nor removed.
/// Throws IoError when SQLite does not take it.
[[nodiscard]] const char* guarded_files();

}  // namespace onset::study::sqlite
