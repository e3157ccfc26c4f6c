#pragma once

#include <filesystem>

#include "study/store/sqlite.hpp"

/// What a store looks like on disk: how to recognise one, and how to make one.
namespace onset::study {

/// Throws IoError unless the file begins as a store of a version that we know. It reads a few bytes
/// and leaves the file as it is, since SQLite itself must not touch files that are not ours.
void check_store_header(const std::filesystem::path& path);

/// Throws IoError unless the tables of the store are those that make_store() makes, all of them
/// plain ones; further plain tables are left alone. Nothing else of the file is asked before.
void check_tables(sqlite::Database& database);

/// Makes an empty store, which appears whole or not at all. The caller holds the writer's lock.
void make_store(const std::filesystem::path& path);

/// Whether points and studies of the store carry checksums: those of version 1 do not.
[[nodiscard]] bool has_checksums(sqlite::Database& database);

/// Turns a store of version 1 into one of the present version, with empty checksums for the caller
/// to fill in. This is part of the caller's transaction.
void add_checksum_columns(sqlite::Database& database);

}  // namespace onset::study
