#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "onset/core/verb.hpp"
#include "onset/study/store.hpp"
#include "onset/study/study.hpp"

namespace onset::report::html {

/// What differs between the points of a study, each value once.
struct Circumstances {
  std::set<std::string> versions;
  std::set<std::string> simd;
  std::set<std::string> hosts;
  std::set<std::string> methods;
  std::set<int> threads;
  std::set<std::int64_t> seeds;
  std::string first_finished;
  std::string last_finished;
  double seconds = 0.0;

  void see(const study::PointRecord& record);
};

/// Everything that a page says about a study, looked up once. It holds no more points and rows than
/// a page shows, whatever the study has.
struct StudyView {
  study::StudyRecord study;
  const Verb* verb = nullptr;              ///< null if this build does not know it
  std::optional<study::Study> definition;  ///< from the study file's text, where it can be read

  struct Listed {
    std::size_t place = 0;  ///< in the study
    std::optional<study::PointRecord> record;
  };
  std::vector<Listed> points;              ///< the first ones
  std::vector<Listed> problems;            ///< the first of those that are there and not ok
  std::size_t all_problems = 0;            ///< how many of these there are
  std::vector<std::string> summary_names;  ///< scalars that points have beside their rows
  Circumstances circumstances;
  Table table;               ///< the first rows of all points
  std::size_t all_rows = 0;  ///< how many there are
  Table drawn;               ///< the rows for figures: all, or those of every few values of an axis
  std::string thinned;       ///< what of the axes is drawn; empty for all

  /// The number of points of every status, and of those that are missing.
  struct Count {
    std::string word;
    std::size_t points = 0;
  };
  std::vector<Count> counts;
};

/// Reads the study file that a store has. One made by another version may say things that this one
/// does not know; a page then shows only its text.
[[nodiscard]] std::optional<study::Study> read_definition(const std::string& source,
                                                          const std::string& name);

/// Lists `most` points and rows at most. Throws Interrupted when a stop was requested.
[[nodiscard]] StudyView view_of(const study::StudyRecord& study, const study::Store& store,
                                std::span<const Verb> verbs, std::size_t most,
                                const std::stop_token& stop = {});

/// The axes as the table of rows calls them: study_table() gives an axis another name where the
/// verb has a column of that name which means something else.
[[nodiscard]] std::vector<std::string> axis_columns(const StudyView& view);

/// The command that computes a point alone.
[[nodiscard]] std::string command_of(const StudyView& view, const study::PointRecord& record);

/// What the page's parts have in common.
struct PageFacts {
  std::string store_file;  ///< as a command names it
  std::size_t max_rows = 0;
  std::stop_token stop = {};
};

// The parts of a study's section, in the order of the page. Those that draw or make large tables
// throw Interrupted when a stop was requested.
[[nodiscard]] std::string summary_part(const StudyView& view);
[[nodiscard]] std::string figures_part(const StudyView& view, const PageFacts& facts);
[[nodiscard]] std::string interactive_part(const StudyView& view, const PageFacts& facts);
[[nodiscard]] std::string problems_part(const StudyView& view, const PageFacts& facts);
[[nodiscard]] std::string results_part(const StudyView& view, const PageFacts& facts);
[[nodiscard]] std::string points_part(const StudyView& view, const PageFacts& facts);
[[nodiscard]] std::string manifest_part(const StudyView& view);
[[nodiscard]] std::string reproduce_part(const StudyView& view, const PageFacts& facts);

}  // namespace onset::report::html
