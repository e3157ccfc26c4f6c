#pragma once

#include <filesystem>

#include "study/store/sqlite.hpp"

/// What a store looks like on disk: how to recognise one, and how to make one.
namespace onset::study {

/// Throws IoError unless the file begins as a store of the version that we know. It reads a few
/// bytes and leaves the file as it is, since SQLite itself must not touch files that are not ours.
void check_store_header(const std::filesystem::path& path);

/// Throws IoError unless the tables of the store are those that make_store() makes, all of them
/// plain ones; further plain tables are left alone. Nothing else of the file is asked before.
void check_tables(sqlite::Database& database);

/// Makes an empty store, which appears whole or not at all. What a removed one left in the place of
/// its journal goes; anything else there is refused. The caller holds the writer's lock.
void make_store(const std::filesystem::path& path);

}  // namespace onset::study
