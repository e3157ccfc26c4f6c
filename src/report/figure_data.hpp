#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/verb.hpp"
#include "onset/study/store.hpp"
#include "onset/study/sweep.hpp"
#include "report/figure_spec.hpp"

namespace onset::report {

struct FigureOptions {
  bool quick = false;     ///< the coarser parameters of the figure file
  bool full = false;      ///< its full size, where the usual one is reduced
  std::int64_t seed = 1;  ///< the seed of every run that does not fix its own
  bool retry = false;     ///< compute again what failed, was refused or did not converge
};

/// The rows of one run of a figure: of all its points, the axes first.
struct RunData {
  std::string id;
  std::vector<Parameters> calls;  ///< effective parameters, one per point
  Table table;
  ResultStatus status = ResultStatus::ok;  ///< interrupted when points are missing
  std::string reason;                      ///< what is wrong with the first such point
  std::size_t computed = 0;                ///< points that were not in the store before
  double seconds = 0.0;  ///< the time that the points took, whenever they were computed
};

struct FigureData {
  std::vector<RunData> runs;

  /// The worst status of all runs, and its reason.
  [[nodiscard]] ResultStatus status() const;
  [[nodiscard]] std::string reason() const;
  [[nodiscard]] const RunData& run(const std::string& id) const;
};

/// Checks commands and parameters of all runs without computing anything; throws InvalidArgument
/// with the place in the figure file.
void check_figure(const FigureSpec& spec, std::span<const Verb> verbs,
                  const FigureOptions& options);

/// What a run of a figure will take, said before it starts.
struct RunCost {
  std::string id;
  std::string command;
  std::size_t points = 0;
  double core_seconds = 0.0;  ///< estimated work on one core
};

/// The cost of every run. Throws InvalidArgument as check_figure() does, and IoError where a run
/// needs a file that is not there.
[[nodiscard]] std::vector<RunCost> figure_costs(const FigureSpec& spec, std::span<const Verb> verbs,
                                                const FigureOptions& options);

/// Copies into `store` the points of the figure that `source` has and `store` lacks, say of a sweep
/// on a cluster: whatever study they were computed for, a point with the same verb, method and
/// parameters is the same point.
void adopt_points(const FigureSpec& spec, std::span<const Verb> verbs, const FigureOptions& options,
                  const study::Store& source, study::Store& store);

/// Computes the runs of a figure with `verbs` (usually catalog()), each a study in `store`: what is
/// there already is not computed again. All parameters of all runs are checked before the first
/// starts, and the columns that series name as soon as their run is done; throws InvalidArgument
/// with the place in the figure file. When a stop is requested, what is finished by then is
/// returned and the last run has the status `interrupted`. The points are computed by what
/// `make_workers` makes.
[[nodiscard]] FigureData compute_figure(
    const FigureSpec& spec, std::span<const Verb> verbs, const FigureOptions& options,
    study::Store& store, const Context& context,
    const study::MakeWorkers& make_workers = study::local_workers);

}  // namespace onset::report
