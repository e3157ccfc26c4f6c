#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/study/store.hpp"
#include "onset/study/study.hpp"

namespace onset::study {

/// One job among several that share a study. Jobs numbered from 0 and from 1 both cover it: `count`
/// means the same as 0.
struct Shard {
  std::size_t index = 0;
  std::size_t count = 1;
};

struct SweepOptions {
  Shard shard;
  std::vector<std::string> keys;  ///< the only points that count, if there are any
  bool retry = false;  ///< compute again points that failed, were refused or did not converge
};

/// The places of the points that the options leave, ascending. Shards have nearly the same
/// estimated work: the most expensive point first, each goes to the job that has the least so far.
/// That depends on the study alone, so that jobs which know nothing of one another agree. Throws
/// InvalidArgument for a key that no point has.
[[nodiscard]] std::vector<std::size_t> chosen_points(const Plan& plan, const SweepOptions& options);

/// The same for all of `count` jobs at once, the first one being number 0; jobs without a point are
/// left out.
[[nodiscard]] std::vector<std::vector<std::size_t>> job_shares(const Plan& plan, std::size_t count);

/// Where a sweep stands.
struct SweepProgress {
  std::size_t points = 0;  ///< the number of points that the options leave
  std::size_t ok = 0;
  std::size_t unconverged = 0;
  std::size_t refused = 0;
  std::size_t failed = 0;
  std::size_t running = 0;
  std::size_t computed = 0;            ///< how many of them this sweep computed
  std::optional<double> seconds_left;  ///< an estimate; empty before the first point is done

  [[nodiscard]] std::size_t finished() const { return ok + unconverged + refused + failed; }
  [[nodiscard]] std::size_t missing() const { return points - finished(); }
};

/// Shares the threads and the memory of one process among points: small points get one thread each
/// (more when there are fewer points than threads) and their part of the memory, large ones all.
class ThreadBudget {
 public:
  ThreadBudget(const Plan& plan, std::size_t points_to_do, int threads, std::size_t memory);

  [[nodiscard]] bool has_room(std::size_t index) const;
  [[nodiscard]] int threads_for(std::size_t index) const;
  [[nodiscard]] std::size_t memory_for(int threads) const;
  void take(std::size_t index) { busy_ += threads_for(index); }
  void give_back(std::size_t index) { busy_ -= threads_for(index); }

 private:
  const Plan* plan_;
  int threads_;
  int small_threads_;
  std::size_t memory_;
  int busy_ = 0;
};

/// Computes points, several at a time: with threads of this process, in other processes, or on
/// other machines.
class Workers {
 public:
  virtual ~Workers() = default;
  /// Whether point `index` of the plan can begin beside those that are under way.
  [[nodiscard]] virtual bool has_room(std::size_t index) const = 0;
  /// Begins the point; called only where there is room.
  virtual void start(std::size_t index) = 0;
  /// A finished point, or nothing when none finished within the time. A point that was stopped
  /// comes back without a record.
  struct Finished {
    std::size_t index = 0;
    std::optional<PointRecord> record;
  };
  [[nodiscard]] virtual std::optional<Finished> wait(std::chrono::milliseconds patience) = 0;
};

/// A point before it is computed: its record without a result.
[[nodiscard]] PointRecord begin_point(const Plan& plan, std::size_t index, int threads);
/// The same for a call that belongs to no study, with all effective parameters.
[[nodiscard]] PointRecord begin_point(const Verb& verb, const Parameters& parameters, int threads);

/// One call of the verb, with everything that can go wrong turned into a record; nothing when it
/// was stopped. `watch` sees the rows that are there whenever the run reports progress and when it
/// was stopped, from the thread of the run.
[[nodiscard]] std::optional<PointRecord> compute_point(
    const Verb& verb, PointRecord begun, const Context& context,
    const std::function<void(const Result&)>& watch = {});

/// The record of a point that was lost, say with the process that computed it: it failed for that
/// reason after that many seconds.
[[nodiscard]] PointRecord lost_point(PointRecord begun, std::string reason, double seconds);

/// Makes the workers for a plan of which this many points are to be computed.
using MakeWorkers = std::function<std::unique_ptr<Workers>(
    const Plan& plan, std::size_t points_to_do, const Context& context)>;

/// Workers that are threads of this process: small points run beside one another, large ones one
/// after the other, as a ThreadBudget of context.threads and context.memory_limit allows. The
/// destructor abandons points under way.
[[nodiscard]] std::unique_ptr<Workers> local_workers(const Plan& plan, std::size_t points_to_do,
                                                     const Context& context);

/// Where a study stands in a store; computes nothing.
[[nodiscard]] SweepProgress sweep_status(const Plan& plan, const Store& store,
                                         const SweepOptions& options);

/// Computes what is missing, cheap points first, and files every point as soon as it is finished.
/// On a stop request (context.stop) the points under way are abandoned and the rest is in the
/// store; so is a point that waits for a store which another program keeps locked, if the store has
/// the same stop token. `report` is called from this thread whenever something changed, and a few
/// times a second.
SweepProgress run_sweep(const Plan& plan, Store& store, Workers& workers,
                        const SweepOptions& options, const Context& context,
                        const std::function<void(const SweepProgress&)>& report = {});

/// All rows of a study in one table: the axes first, then the columns of the verb, points in the
/// order of the study. An axis whose values a column of the same name repeats in every row (say
/// alpha) is not shown twice; one whose name a column uses for something else is `axis_<name>`.
/// Points that are missing or have no rows contribute none, and where the columns of points differ
/// a row has no value in the columns that only other points have. With `timing`, seconds, threads,
/// host and finished are the last columns.
[[nodiscard]] Table study_table(const StudyRecord& study, const Store& store, bool timing = false);

/// The same rows one after the other, for studies whose table would not fit: no more than a point
/// is held at a time. The store is read twice, first for the columns; a StoreParts around both
/// keeps a sweep from filing points in between. Study and store must outlive this. A stop request
/// ends the first pass, which is that of the constructor, with Interrupted.
class StudyRows {
 public:
  StudyRows(const StudyRecord& study, const Store& store, bool timing = false,
            const std::stop_token& stop = {});

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  /// The number of rows, of points without a result, and of points that are not ok.
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t missing() const { return missing_; }
  [[nodiscard]] std::size_t not_ok() const { return not_ok_; }

  /// A point with its record, or null where it is missing, and its rows under `columns()`.
  using SeeRows = std::function<void(std::size_t place, const PointRecord* record,
                                     std::vector<std::vector<Cell>>& rows)>;
  void each_point(const SeeRows& see, Store::Look look = Store::Look::whole) const;
  void each(const std::function<void(const std::vector<Cell>&)>& see,
            Store::Look look = Store::Look::whole) const;

 private:
  struct ShownAxis {
    std::size_t index;
    std::string column;
  };
  void see_columns(const StudyRecord::Entry& entry, const Table& table,
                   std::vector<bool>& repeated);
  [[nodiscard]] std::vector<std::vector<Cell>> rows_of(const StudyRecord::Entry& entry,
                                                       const PointRecord& record) const;

  const StudyRecord& study_;
  const Store& store_;
  bool timing_;
  std::vector<Column> results_;  ///< columns of all points, in the order of their first appearance
  std::vector<ShownAxis> axes_;  ///< axes that are columns of their own
  std::vector<Column> columns_;
  std::size_t count_ = 0;
  std::size_t missing_ = 0;
  std::size_t not_ok_ = 0;
};

}  // namespace onset::study
