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

/// The most rows, points and failed points of a study that one answer has.
inline constexpr std::size_t max_watched_rows = 2'000;
inline constexpr std::size_t max_watched_points = 1'000;
inline constexpr std::size_t max_watched_problems = 100;

/// A text that changes whenever the file does; empty while there is no such file.
[[nodiscard]] std::string file_version(const std::filesystem::path& file);

/// The seconds until `missing` points will be done at the pace of the last ones, whose UTC times
/// (ISO 8601) are given in any order; nothing when fewer than two are known.
[[nodiscard]] std::optional<double> seconds_left(std::vector<std::string> finished,
                                                 std::size_t missing);

/// Every study of a store: counts, time left, and the command that tries failed points again. It
/// reads no results, whatever the size of the store. Throws IoError.
[[nodiscard]] Json store_json(const study::Store& store, std::span<const Verb> verbs);

/// Which part of a study to show.
struct WatchedPart {
  std::size_t first = 0;     ///< the place of its first point in the study
  std::size_t stride = 0;    ///< every how many-th point; 0: as many as spread over all of them
  std::size_t problems = 0;  ///< how many points that need a look to pass over
};

/// Rows of a study, as many points as fit into an answer, and points that need a look with the
/// command that computes each. Throws IoError; nothing when there is no such study.
[[nodiscard]] std::optional<Json> study_part_json(const study::Store& store, std::size_t index,
                                                  const WatchedPart& part,
                                                  std::span<const Verb> verbs);

}  // namespace onset::explore
