#pragma once

#include <string>

#include "onset/io/format.hpp"
#include "onset/study/sweep.hpp"
#include "tool/stop_watch.hpp"
#include "tool/sweep/options.hpp"

/// What `onset sweep` tells people and programs.
namespace onset::tool {

/// How a sweep, or a look at one, ended.
struct SweepOutcome {
  study::SweepProgress progress;
  StopCause cause = StopCause::none;
  double seconds = 0.0;
};

/// A record of one row with the counts; status and reason say what is to be done next.
[[nodiscard]] io::RunRecord sweep_record(const study::Plan& plan, const SweepRequest& request,
                                         const SweepOutcome& outcome);
/// A record with a row for every point: where it stands and what it is estimated to cost; with
/// --list also its key and memory, and values in full, for programs.
[[nodiscard]] io::RunRecord list_points(const study::Plan& plan, const SweepRequest& request,
                                        const study::Store* store);
/// Writes the first few points that are not ok to stderr, with their reasons.
void say_troubles(const study::Plan& plan, const SweepRequest& request, const study::Store& store);

/// The fraction that the progress bar shows.
[[nodiscard]] double fraction_done(const study::SweepProgress& progress);
[[nodiscard]] std::string progress_line(const study::SweepProgress& progress);

}  // namespace onset::tool
