#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onset/core/verb.hpp"
#include "onset/study/study.hpp"

namespace onset::study {

/// How a point ended, best first. An interrupted point is not kept: it is as if it had not begun.
enum class PointStatus {
  ok,
  unconverged,
  refused,
  failed,  ///< the verb threw, or ended the process it ran in; `reason` says how
};

[[nodiscard]] std::string_view to_string(PointStatus status);

/// A finished point with all that is known of it.
struct PointRecord {
  std::string key;
  std::string command;  ///< "family verb"
  int method = 1;       ///< Verb::method
  Parameters parameters;
  PointStatus status = PointStatus::ok;
  std::string reason;  ///< one sentence; empty when ok
  Table table;
  std::vector<std::pair<std::string, Cell>> summary;
  std::vector<std::string> notes;
  std::string version;  ///< the version of Onset
  std::string simd;     ///< the instruction set that the bits belong to
  // These say how the run went. They do not belong to the result, and exports omit them unless
  // asked.
  double seconds = 0.0;
  int threads = 1;
  std::string host;
  std::string finished;  ///< UTC, ISO 8601
};

/// The record as one line of text, for sending it to another process; every bit comes back.
[[nodiscard]] std::string to_wire(const PointRecord& record);
/// Throws IoError when the text is not such a record.
[[nodiscard]] PointRecord from_wire(std::string_view text);

/// The points of a study, so that a store can be exported without its study file.
struct StudyRecord {
  std::string name;
  std::string command;
  std::string source;  ///< the study file's text
  std::vector<std::string> axes;
  struct Entry {
    std::string key;
    std::vector<Value> axis_values;
  };
  std::vector<Entry> points;  ///< in the order of the study
};

/// The record of a plan.
[[nodiscard]] StudyRecord record_of(const Plan& plan);

/// One SQLite file with the results of any number of studies. Made for network file systems: a
/// rollback journal, full synchronisation, one transaction for every finished point, and one writer
/// at a time (a second one is told who the first is). Readers may look on at any moment.
///
/// Points and studies carry checksums; what does not fit its checksum, or does not hold what it
/// must, is named when it is read.
///
/// All functions throw IoError naming the file; a transaction that fails leaves the file as it was.
class Store {
 public:
  enum class Mode { read, write };

  /// Mode::write makes the file when there is none. Refuses files that are not stores, stores of
  /// another version and corrupt ones, and leaves them untouched. While another program keeps the
  /// file locked, this and all other functions wait for a minute; on a stop request they throw
  /// Interrupted instead.
  Store(std::filesystem::path path, Mode mode, std::stop_token stop = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  [[nodiscard]] const std::filesystem::path& path() const;

  /// Files a point, in place of an earlier one with the same key.
  void put(const PointRecord& record);
  /// Files a study, in place of an earlier one with the same name. Points are never removed.
  void put(const StudyRecord& study);

  [[nodiscard]] std::optional<PointRecord> find(const std::string& key) const;

  enum class Look {
    whole,
    /// Status and table alone, without a look at the checksum: for a first pass of two.
    rows,
  };
  /// Sees one point of a study after the other, with its place and its record, or null where it is
  /// missing.
  using SeePoint = std::function<void(std::size_t place, const PointRecord* record)>;
  /// Shows the points of a study in its order. No more than one is held at a time.
  void each(const StudyRecord& study, const SeePoint& see, Look look = Look::whole) const;
  /// The status of every point in the store.
  [[nodiscard]] std::map<std::string, PointStatus> statuses() const;
  /// All studies, in the order in which they were first filed.
  [[nodiscard]] std::vector<StudyRecord> studies() const;
  /// The study of that name; an empty name means the only one. Throws InvalidArgument with the
  /// names that exist.
  [[nodiscard]] StudyRecord study(const std::string& name) const;

 private:
  friend void merge(Store& into, const std::vector<std::filesystem::path>& from);
  friend class StoreParts;
  class File;
  std::unique_ptr<File> file_;
};

/// The store for reading, or nothing where none was made yet. Throws IoError where something is in
/// its place or on the way to it that cannot be followed or entered, as the constructor does: only
/// what is known not to be there is missing.
[[nodiscard]] std::optional<Store> open_if_there(const std::filesystem::path& path,
                                                 std::stop_token stop = {});

/// Puts the points and studies of all of `from` into `into`, in one transaction. Points that are in
/// both must have the same result; where one has not converged or failed the better one stays. Of
/// two studies with one name, one must have all the points of the other; the larger one stays.
/// Throws IoError naming the point or study when two differ, and changes nothing then.
void merge(Store& into, const std::vector<std::filesystem::path>& from);

}  // namespace onset::study
