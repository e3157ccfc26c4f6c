#pragma once

#include <functional>

#include "onset/core/verb.hpp"

namespace onset {

/// Looks at a result while it grows; its status is `interrupted` at the last look at a run that was
/// stopped.
using ResultWatcher = std::function<void(const Result&)>;

/// Runs a settled request as run() does. `watch` is called from the thread of the run whenever the
/// run reports progress, and once more when it was stopped, so that nobody has to wait for the end
/// to see the rows that are there.
[[nodiscard]] Result watched_run(const Verb& verb, const Call& call, const Context& context,
                                 const ResultWatcher& watch);

}  // namespace onset
