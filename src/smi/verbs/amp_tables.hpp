#pragma once

#include <optional>
#include <string>
#include <vector>

#include "onset/core/verb.hpp"
#include "smi/learners/message_passing.hpp"

namespace onset::smi {

/// A row of `smi amp`: means over the runs that ended in the same mode, so that no mean mixes runs
/// that learned a layer with runs that did not. Where all runs diverged there are none, and of what
/// needs the teacher none where it is not known.
struct AmpRow {
  double alpha = 0.0;
  std::optional<std::string> escaped = {};
  std::int64_t runs = 0;
  std::optional<Estimate> fraction = {};
  std::vector<std::optional<Estimate>> norm = {}, overlap = {}, cosine = {};
  std::optional<Estimate> error_plugin = {}, error_bayes = {};
  std::int64_t diverged = 0;
};

/// An iteration of a run.
struct TrajectoryRow {
  double alpha = 0.0;
  std::uint64_t run = 0;
  int iteration = 0;
  std::vector<double> norm = {};
  std::vector<std::optional<double>> overlap = {}, cosine = {};
  std::vector<double> variance = {};
  std::optional<double> error_plugin = {}, error_bayes = {};
  double residual = 0.0, noise = 0.0;
  std::size_t lost = 0;
};

/// How a run ended.
struct RunRow {
  double alpha = 0.0;
  std::uint64_t run = 0;
  std::string end;
  std::string escaped;
  int attempts = 0;
  std::size_t iterations = 0;
};

[[nodiscard]] std::vector<Column> amp_columns(const FieldShape& shape);
[[nodiscard]] std::vector<Column> trajectory_columns(const FieldShape& shape);

/// Collects runs of message passing into the rows, files and summary of `smi amp`.
class AmpTables {
 public:
  AmpTables(const FieldShape& shape, bool knows_teacher);

  void add_run(double alpha, std::uint64_t run, MessagePassing result);
  /// Means over the runs since the last call: one row for every mode in which they ended.
  void finish_alpha(double alpha);
  [[nodiscard]] std::size_t finished_alphas() const { return finished_alphas_; }
  [[nodiscard]] std::size_t runs_of_open_alpha() const { return runs_.size(); }

  struct Wishes {
    double tol = 0.0;  ///< wanted standard error of the first overlap; 0 for none
    bool weights = false;
    bool trajectories = false;  ///< as rows
  };
  /// Fills in a result whose status says how the runs ended.
  void complete(const Wishes& wishes, Result& result) const;

 private:
  using Runs = std::vector<const MessagePassing*>;
  /// Means over these runs, none of which failed.
  [[nodiscard]] AmpRow means_of(const Runs& runs) const;
  /// Notes where runs that end alike are so far apart that a mean over a few of them says little.
  void note_spread(double alpha, const std::string& mode, const Runs& runs);
  [[nodiscard]] TrajectoryRow step_row(const MessagePassingStep& step) const;

  FieldShape shape_;
  bool knows_teacher_;
  std::vector<MessagePassing> runs_;  // at the current alpha
  std::size_t finished_alphas_ = 0;
  std::vector<double> weights_;  // of the last run that did not fail
  std::vector<AmpRow> rows_;
  std::vector<RunRow> run_rows_;
  std::vector<TrajectoryRow> step_rows_;
  std::int64_t diverged_ = 0, restarts_ = 0, unfinished_ = 0;
  bool mostly_failed_ = false;
  std::vector<std::string> notes_;
  double matrix_seconds_ = 0.0, posterior_seconds_ = 0.0;
};

}  // namespace onset::smi
