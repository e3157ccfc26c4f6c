#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onset/core/verb.hpp"
#include "onset/study/store.hpp"
#include "onset/study/study.hpp"

namespace onset::report::html {

/// Everything that a page says about a study, looked up once.
struct StudyView {
  study::StudyRecord study;
  const Verb* verb = nullptr;              ///< null if this build does not know it
  std::optional<study::Study> definition;  ///< from the study file's text, where it can be read
  std::vector<std::optional<study::PointRecord>> records;  ///< one per point of the study
  Table table;                                             ///< the rows of all points

  /// The number of points of every status, and of those that are missing.
  struct Count {
    std::string word;
    std::size_t points = 0;
  };
  [[nodiscard]] std::vector<Count> counts() const;
};

/// Reads the study file that a store has. One made by another version may say things that this one
/// does not know; a page then shows only its text.
[[nodiscard]] std::optional<study::Study> read_definition(const std::string& source,
                                                          const std::string& name);

[[nodiscard]] StudyView view_of(const study::StudyRecord& study, const study::Store& store,
                                std::span<const Verb> verbs);

/// The axes as the table of rows calls them: study_table() gives an axis another name where the
/// verb has a column of that name which means something else.
[[nodiscard]] std::vector<std::string> axis_columns(const StudyView& view);

/// The command that computes a point alone.
[[nodiscard]] std::string command_of(const StudyView& view, const study::PointRecord& record);

/// What the page's parts have in common.
struct PageFacts {
  std::string store_file;  ///< as a command names it
  std::size_t max_rows = 0;
};

// The parts of a study's section, in the order of the page.
[[nodiscard]] std::string summary_part(const StudyView& view);
[[nodiscard]] std::string figures_part(const StudyView& view);
[[nodiscard]] std::string interactive_part(const StudyView& view, const PageFacts& facts);
[[nodiscard]] std::string problems_part(const StudyView& view, const PageFacts& facts);
[[nodiscard]] std::string results_part(const StudyView& view, const PageFacts& facts);
[[nodiscard]] std::string points_part(const StudyView& view, const PageFacts& facts);
[[nodiscard]] std::string manifest_part(const StudyView& view);
[[nodiscard]] std::string reproduce_part(const StudyView& view, const PageFacts& facts);

}  // namespace onset::report::html
