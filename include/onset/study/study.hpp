#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onset/core/verb.hpp"
#include "onset/io/place.hpp"

/// Studies: one verb called at every point of a grid, its results kept in a store.
namespace onset::study {

/// A parameter that takes several values, one call of the verb for each.
struct Axis {
  std::string parameter;
  std::vector<Value> values;
  io::Place place = {};
  std::vector<io::Place> value_places = {};  ///< one per value, or none
};

/// A parameter whose value at every point follows from the point's other numbers.
struct Tie {
  std::string parameter;
  std::string expression;  ///< of numbers in `fixed` and `axes`, say "0.1/sqrt(dim)"
  io::Place place = {};
};

/// What is to be computed, as a study file or a run of a figure states it; it says nothing about
/// how.
struct Study {
  std::string name;         ///< the name of its file without .toml
  std::string title;        ///< for people; may be empty
  std::string description;  ///< likewise
  std::string command;      ///< "family verb"
  std::map<std::string, Value> fixed;
  std::vector<Axis> axes;           ///< in the file's order: the first varies slowest
  std::vector<Tie> tied;            ///< in the file's order; none may use another
  std::vector<std::int64_t> seeds;  ///< the innermost axis; empty means the verb's own default
  std::string source;               ///< the text it was read from, kept in the store
  io::Place place;
  /// Where `command`, `seeds` and the parameters of `fixed` stand, as far as known.
  std::map<std::string, io::Place> places;
};

/// Reads a study from TOML text; `file` names it in messages and gives the name. Throws
/// InvalidArgument with file, line and column for anything wrong, and the nearest valid key.
[[nodiscard]] Study parse_study(std::string_view text, const std::filesystem::path& file);
/// The same from a file; throws IoError when it cannot be read.
[[nodiscard]] Study read_study(const std::filesystem::path& file);

/// One call of the verb.
struct Point {
  std::string key;                 ///< identity(): what its result is filed under
  std::vector<Value> axis_values;  ///< one per axis of the plan
  Parameters parameters;           ///< all effective ones
  double core_seconds = 0.0;       ///< estimated work on one core
  double memory_bytes = 0.0;       ///< estimated
};

/// A study whose every parameter has been checked against the verb.
struct Plan {
  Study study;
  const Verb* verb = nullptr;
  /// The parameters that vary: axes, `seed` when there are seeds, then those tied to others.
  std::vector<std::string> axes;
  std::vector<Point> points;  ///< in the order of the study; no two with one key
};

/// Largest number of points that a study may have: about 100 MB of plan.
inline constexpr std::size_t max_points = 100'000;

/// Throws InvalidArgument with the place in the study for an unknown command or one that is there
/// to write files, parameters that the verb does not take or allow, an axis or a tie that is fixed
/// as well, a mistake in the expression of a tie, a value that an axis has twice, and studies that
/// are too large. The verbs must outlive the plan.
[[nodiscard]] Plan make_plan(const Study& study, std::span<const Verb> verbs);

/// What makes two results the same result: a hash of the verb, its method number and all effective
/// parameters, `seed` and `tol` included, but not of threads or output options. It is SHA-256 cut
/// to 128 bits, in hexadecimal.
[[nodiscard]] std::string identity(const Verb& verb, const Parameters& parameters);

}  // namespace onset::study
