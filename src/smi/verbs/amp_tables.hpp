#pragma once

#include <string>
#include <vector>

#include "onset/core/verb.hpp"
#include "onset/smi/learners/message_passing.hpp"

namespace onset::smi {

/// The columns of `smi amp`.
[[nodiscard]] std::vector<Column> amp_columns(const FieldShape& shape);

/// Collects runs of message passing into the rows, files and summary of `smi amp`.
class AmpTables {
 public:
  AmpTables(const FieldShape& shape, bool knows_teacher);

  void add_run(double alpha, std::uint64_t run, MessagePassing result);
  /// Means over the runs since the last row.
  void finish_row(double alpha);
  [[nodiscard]] std::size_t finished_rows() const { return rows_.rows().size(); }
  [[nodiscard]] std::size_t runs_of_open_row() const { return runs_.size(); }

  struct Wishes {
    double tol = 0.0;  ///< wanted standard error of the first overlap; 0 for none
    bool weights = false;
    bool trajectories = false;  ///< as rows
  };
  /// Fills in a result whose status says how the runs ended.
  void complete(const Wishes& wishes, Result& result) const;

 private:
  [[nodiscard]] Cell mean(double (*of)(const MessagePassingStep&, std::size_t),
                          std::size_t block) const;

  FieldShape shape_;
  bool knows_teacher_;
  std::vector<MessagePassing> runs_;  // of the current row
  std::vector<double> weights_;       // of the last run that did not fail
  Table rows_, runs_table_, trajectories_;
  std::int64_t diverged_ = 0, all_ = 0, restarts_ = 0, unfinished_ = 0;
  bool mostly_failed_ = false;
  double matrix_seconds_ = 0.0, posterior_seconds_ = 0.0, iterations_ = 0.0;
  double largest_error_ = 0.0;
};

}  // namespace onset::smi
