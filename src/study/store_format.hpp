#pragma once

#include <filesystem>

/// What a store is on disk: how to tell one, and how to make one.
namespace onset::study {

/// Throws IoError unless the file begins as a store of our version does. Reads a few bytes and
/// leaves the file as it is: SQLite itself must not get hold of the files of others.
void check_store_header(const std::filesystem::path& path);

/// Makes an empty store, which appears whole or not at all. The caller holds the writer's lock.
void make_store(const std::filesystem::path& path);

}  // namespace onset::study
