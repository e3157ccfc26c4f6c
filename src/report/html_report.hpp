#pragma once

#include <cstddef>
#include <span>
#include <stop_token>
#include <string>

#include "onset/core/verb.hpp"
#include "onset/study/store.hpp"

namespace onset::report {

struct HtmlOptions {
  std::string study;             ///< the name of the only study to show; empty means all
  std::size_t max_rows = 2'000;  ///< the most rows of a table; browsers slow down beyond that
  std::stop_token stop = {};     ///< ends the reading of the store and the drawing of figures
};

/// One page that needs nothing else, neither files nor a network: what was run, figures, tables
/// that sort, the points that went wrong and why, versions and machines, and the commands that
/// compute it all again. `verbs` (usually catalog()) say what columns mean and which matter most;
/// studies of verbs that are not among them are shown too. Without gnuplot the page says that its
/// figures are missing. Throws IoError, InvalidArgument for a study that is not there, and
/// Interrupted when a stop was requested before the page is complete.
[[nodiscard]] std::string html_report(const study::Store& store, std::span<const Verb> verbs,
                                      const HtmlOptions& options = {});

}  // namespace onset::report
