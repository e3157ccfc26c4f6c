#pragma once

#include <span>
#include <string>

#include "explore/json.hpp"
#include "onset/core/verb.hpp"
#include "onset/study/study.hpp"

namespace onset::explore {

/// The most points of a study that is composed on the page; larger ones are written as files.
inline constexpr std::size_t max_composed_points = 10'000;

/// A study that was composed on the page.
struct ComposedStudy {
  std::string text;  ///< its file
  study::Plan plan;
};

/// Reads {"command": .., "given": {..}, "axes": {"skip": "0:1:0.1"}, "tied": {"rate":
/// "0.1/sqrt(dim)"}}: the values of an axis are a grid where the parameter is a number, and a comma
/// list elsewhere; a tie is an expression of other numbers of the point. What is checked is the
/// study file's text, so that the file is right if this is. Throws InvalidArgument.
[[nodiscard]] ComposedStudy compose_study(const Json& body, const std::string& name,
                                          std::span<const Verb> verbs);

/// {"toml": .., "points": n, "core_seconds": x}.
[[nodiscard]] Json composed_json(const ComposedStudy& study);

/// The name of a new study as a file may have it; throws InvalidArgument for anything but small
/// letters, digits and hyphens.
[[nodiscard]] std::string study_name(const Json& body);

}  // namespace onset::explore
