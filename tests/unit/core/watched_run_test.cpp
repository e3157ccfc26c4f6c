#include "core/watched_run.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "onset/core/error.hpp"

namespace onset {
namespace {

/// A verb that adds three rows and reports after each; it can be stopped between them.
Verb counting_verb() {
  Verb verb;
  verb.family = "toy";
  verb.name = "count";
  verb.rows = {{"", {{"n", "count", "", false}}}};
  return verb;
}

Call counting_call() {
  Call call;
  call.run = [](const Context& context, Result& result) {
    for (std::int64_t n = 1; n <= 3; ++n) {
      context.check();
      result.table.add_row({n});
      context.report(static_cast<double>(n) / 3.0, "counting");
    }
  };
  return call;
}

TEST(WatchedRun, ShowsTheRowsWheneverTheRunReports) {
  std::vector<std::size_t> seen;
  int reports = 0;
  Context context;
  context.progress = [&reports](double, std::string_view) { ++reports; };
  const Result result =
      watched_run(counting_verb(), counting_call(), context,
                  [&](const Result& r) { seen.push_back(r.table.rows().size()); });
  EXPECT_EQ(seen, (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_EQ(reports, 3);
  EXPECT_EQ(result.table.rows().size(), 3U);
  EXPECT_EQ(result.status, ResultStatus::ok);
}

TEST(WatchedRun, ShowsWhatThereIsOnceMoreWhenItIsStopped) {
  std::stop_source stop;
  Context context;
  context.stop = stop.get_token();
  std::vector<ResultStatus> seen;
  const Result result =
      watched_run(counting_verb(), counting_call(), context, [&](const Result& r) {
        seen.push_back(r.status);
        EXPECT_EQ(r.table.rows().size(), 1U);
        stop.request_stop();
      });
  EXPECT_EQ(seen, (std::vector<ResultStatus>{ResultStatus::ok, ResultStatus::interrupted}));
  EXPECT_EQ(result.status, ResultStatus::interrupted);
}

}  // namespace
}  // namespace onset
