#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "explore/json.hpp"
#include "onset/core/verb.hpp"
#include "onset/study/store.hpp"

namespace onset::explore {

/// The most rows and points that the page gets of a study, as in the report.
inline constexpr std::size_t max_watched_rows = 2'000;

/// A text that changes whenever the file does; empty while there is no such file.
[[nodiscard]] std::string file_version(const std::filesystem::path& file);

/// The seconds until `missing` points will be done at the pace of the last ones, whose UTC times
/// (ISO 8601) are given in any order; nothing when fewer than two are known.
[[nodiscard]] std::optional<double> seconds_left(std::vector<std::string> finished,
                                                 std::size_t missing);

/// Every study of a store: counts, time left, rows, points that need a look with the command that
/// computes each, and the command that tries all of them again. Throws IoError.
[[nodiscard]] Json store_json(const study::Store& store, std::span<const Verb> verbs);

}  // namespace onset::explore
