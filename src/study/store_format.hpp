#pragma once

#include <filesystem>

#include "study/sqlite.hpp"

/// What a store is on disk: how to tell one, and how to make one.
namespace onset::study {

/// Throws IoError unless the file begins as a store of a version that we know. Reads a few bytes
/// and leaves the file as it is: SQLite itself must not get hold of the files of others.
void check_store_header(const std::filesystem::path& path);

/// Makes an empty store, which appears whole or not at all. The caller holds the writer's lock.
void make_store(const std::filesystem::path& path);

/// Whether points and studies of the store carry checksums: those of version 1 do not.
[[nodiscard]] bool has_checksums(sqlite::Database& database);

/// Makes a store of version 1 one of ours, with empty checksums for the caller to fill in. Part of
/// the caller's transaction.
void add_checksum_columns(sqlite::Database& database);

}  // namespace onset::study
