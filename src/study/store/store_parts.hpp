#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "onset/study/store.hpp"

namespace onset::study {

/// A study without its points.
struct StudyHead {
  std::int64_t id = 0;
  std::string name;
  std::string command;
  std::string source;  ///< the study file's text
  std::size_t points = 0;
};

/// Points of a study: from the place `first` on, every `stride`-th, `count` at most.
struct PointRange {
  std::size_t first = 0;
  std::size_t stride = 1;
  std::size_t count = 0;
};

/// Looks into a store part by part: it never holds more of a study than was asked for, and counts
/// without reading results, so that stores of 100 000 points can be watched while they are written.
/// The checksum of a study, which covers all its points, is therefore not looked at; those of the
/// points are, when they are read with Store::find().
///
/// From the first question on all answers, those of Store::find() too, are about the same moment:
/// the file is locked once and not for every question, since a reader that asks a thousand times
/// hardly ever gets the lock from a busy writer. The writer waits meanwhile, so be short. All
/// functions throw IoError naming the file.
class StoreParts {
 public:
  /// The store must outlive this.
  explicit StoreParts(const Store& store);
  StoreParts(const StoreParts&) = delete;
  StoreParts& operator=(const StoreParts&) = delete;
  ~StoreParts();

  /// All studies, in the order in which they were first filed.
  [[nodiscard]] std::vector<StudyHead> studies() const;
  /// The number of points of every status by its word, and of those that are "missing".
  [[nodiscard]] std::map<std::string, std::size_t> counts(const StudyHead& study) const;
  /// When the points were finished that were filed last, latest first.
  [[nodiscard]] std::vector<std::string> last_finished(const StudyHead& study,
                                                       std::size_t count) const;
  /// The study with these points alone.
  [[nodiscard]] StudyRecord part(const StudyHead& study, const PointRange& range) const;
  /// The study with those points alone that are in the store and not ok; `range` counts them.
  [[nodiscard]] StudyRecord not_ok(const StudyHead& study, const PointRange& range) const;

 private:
  const Store* store_;
};

}  // namespace onset::study
