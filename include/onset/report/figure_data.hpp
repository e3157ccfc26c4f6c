#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/verb.hpp"
#include "onset/report/figure_spec.hpp"

namespace onset::report {

struct FigureOptions {
  bool quick = false;     ///< the coarser parameters of the figure file
  std::int64_t seed = 1;  ///< of every run that does not fix its own
};

/// The rows of one run of a figure: of all its calls, the axis value first.
struct RunData {
  std::string id;
  std::vector<Parameters> calls;  ///< effective parameters, one per call of the verb
  Table table;
  ResultStatus status = ResultStatus::ok;  ///< the worst of its calls
  std::string reason;
  double seconds = 0.0;
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

/// Computes all the runs of a figure with `verbs` (usually catalog()). All parameters of all runs
/// are checked before the first starts, and the columns that series name as soon as their run is
/// done; throws InvalidArgument with the place in the figure file. When a stop is requested, the
/// runs finished so far are returned and the last one has the status `interrupted`.
[[nodiscard]] FigureData compute_figure(const FigureSpec& spec, std::span<const Verb> verbs,
                                        const FigureOptions& options, const Context& context);

}  // namespace onset::report
