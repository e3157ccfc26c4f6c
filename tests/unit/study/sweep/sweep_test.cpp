#include "onset/study/sweep.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "onset/io/format.hpp"
#include "study/store/sqlite.hpp"
#include "unit/study/toy_study.hpp"

namespace onset::study {
namespace {

SweepProgress sweep(const Plan& plan, Store& store, int threads = 2,
                    const SweepOptions& options = {}) {
  Context context;
  context.threads = threads;
  const auto workers = local_workers(plan, plan.points.size(), context);
  return run_sweep(plan, store, *workers, options, context);
}

TEST(Sweep, EveryWayAPointCanEndIsKeptWithItsReason) {
  const ScratchFolder folder;
  const ToyPlan plan("[axes]\nslope = [1, -1, -2, -3, -4, -5]");
  Store store(folder / "s.db", Store::Mode::write);
  const SweepProgress end = sweep(*plan, store);
  EXPECT_EQ(end.points, 6U);
  EXPECT_EQ(end.ok, 1U);
  EXPECT_EQ(end.unconverged, 1U);
  EXPECT_EQ(end.refused, 1U);
  EXPECT_EQ(end.failed, 3U);
  EXPECT_EQ(end.missing(), 0U);
  const std::vector<std::string> reasons = {"",
                                            "it wanders",
                                            "this slope is refused",
                                            "slope: this slope is misuse",
                                            "out of memory",
                                            "an unknown exception"};
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    EXPECT_EQ(store.find(plan->points[i].key)->reason, reasons[i]);
  }
}

TEST(Sweep, APointThatNeedsMoreMemoryThanThereIsFailsBeforeItStarts) {
  const ToyPlan plan("");
  Context context;
  context.memory_limit = 10;
  const std::optional<PointRecord> record =
      compute_point(*plan->verb, begin_point(*plan, 0, 1), context);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->status, PointStatus::failed);
  EXPECT_NE(record->reason.find("of memory"), std::string::npos) << record->reason;
}

TEST(Sweep, ALostPointHasFailedAndSaysWhatItWas) {
  const ToyPlan plan("[axes]\nslope = [7]");
  const PointRecord record = lost_point(begin_point(*plan, 0, 3), "it crashed", 1.5);
  EXPECT_EQ(record.status, PointStatus::failed);
  EXPECT_EQ(record.reason, "it crashed");
  EXPECT_EQ(record.key, plan->points[0].key);
  EXPECT_EQ(record.command, "toy line");
  EXPECT_EQ(record.parameters.real("slope"), 7.0);
  EXPECT_EQ(record.threads, 3);
  EXPECT_EQ(record.seconds, 1.5);
  EXPECT_FALSE(record.finished.empty());
}

TEST(Sweep, ComputesWhatIsMissingAndRetriesOnlyWhenAsked) {
  const ScratchFolder folder;
  const ToyPlan plan("[axes]\nslope = [1, 2, -1, -3]");
  Store store(folder / "s.db", Store::Mode::write);
  EXPECT_EQ(sweep(*plan, store).computed, 4U);
  EXPECT_EQ(sweep(*plan, store).computed, 0U);
  SweepOptions retry;
  retry.retry = true;
  EXPECT_EQ(sweep_status(*plan, store, retry).missing(), 2U);
  EXPECT_EQ(sweep(*plan, store, 2, retry).computed, 2U);
  EXPECT_EQ(sweep(*ToyPlan("[axes]\nslope = [0, 1, 2, 3]"), store).computed, 2U);
}

TEST(Sweep, ShardsCoverTheStudyWhetherNumberedFrom0Or1) {
  for (const std::size_t first : {0U, 1U}) {
    const ScratchFolder folder;
    const ToyPlan plan("seeds = 10");
    Store store(folder / "s.db", Store::Mode::write);
    std::size_t computed = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      SweepOptions options;
      options.shard = {first + i, 3};
      computed += sweep(*plan, store, 2, options).computed;
    }
    EXPECT_EQ(computed, 10U);
    EXPECT_EQ(sweep_status(*plan, store, {}).ok, 10U);
  }
}

TEST(Sweep, ThreadsDoNotChangeTheTable) {
  std::vector<std::string> tables;
  for (const int threads : {1, 2, 8}) {
    const ScratchFolder folder;
    const ToyPlan plan("seeds = 5\n[axes]\nslope = [1, 100, 7]");
    Store store(folder / "s.db", Store::Mode::write);
    EXPECT_EQ(sweep(*plan, store, threads).ok, 15U);
    tables.push_back(io::to_csv(study_table(record_of(*plan), store)));
  }
  EXPECT_EQ(tables[0], tables[1]);
  EXPECT_EQ(tables[0], tables[2]);
}

TEST(Sweep, AStopGivesUpWhatIsUnderWayAndKeepsTheRest) {
  const ScratchFolder folder;
  const ToyPlan plan("[axes]\nslope = [1, 2, -6]\ncount = [1, 2]");
  Store store(folder / "s.db", Store::Mode::write);
  std::stop_source stop;
  Context context;
  context.threads = 2;
  context.stop = stop.get_token();
  const auto workers = local_workers(*plan, plan->points.size(), context);
  const SweepProgress end =
      run_sweep(*plan, store, *workers, {}, context, [&stop](const SweepProgress& now) {
        if (now.computed == 4 && now.running == 2) stop.request_stop();
      });
  EXPECT_EQ(end.ok, 4U);
  EXPECT_EQ(end.missing(), 2U);
  EXPECT_EQ(end.running, 0U);
  EXPECT_EQ(store.statuses().size(), 4U);
}

TEST(Sweep, AStopReachesAStoreThatAnotherProgramKeepsLocked) {
  const ScratchFolder folder;
  const ToyPlan plan("");
  std::stop_source stop;
  Context context;
  context.stop = stop.get_token();
  Store store(folder / "s.db", Store::Mode::write, context.stop);
  sqlite::Database other(folder / "s.db", sqlite::Database::Mode::write);
  other.execute("BEGIN IMMEDIATE");  // readers may look on
  const std::jthread later([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  const auto workers = local_workers(*plan, 1, {});  // without the stop: the point itself ends
  const SweepProgress end = run_sweep(*plan, store, *workers, {}, context);
  EXPECT_EQ(end.missing(), 1U);
  EXPECT_THROW(store.put(record_of(*plan)), Interrupted);
}

TEST(Sweep, AStoreThatFailsStopsTheThreads) {
  const ScratchFolder folder;
  const ToyPlan plan("[axes]\nslope = [1, -6]");
  { const Store made(folder / "s.db", Store::Mode::write); }
  Store store(folder / "s.db", Store::Mode::read);  // put() throws
  EXPECT_THROW(sweep(*plan, store), IoError);       // and returns although a point would not end
}

TEST(ThreadBudget, GivesSmallPointsOneThreadAndLargeOnesAll) {
  const ToyPlan plan("[axes]\nslope = [1, 2, 100]");
  ThreadBudget budget(*plan, 3, 2, 1'000'000);
  EXPECT_EQ(budget.threads_for(0), 1);
  EXPECT_EQ(budget.threads_for(2), 2);
  EXPECT_TRUE(budget.has_room(2));
  budget.take(0);
  EXPECT_TRUE(budget.has_room(1));
  EXPECT_FALSE(budget.has_room(2));
  budget.take(1);
  EXPECT_FALSE(budget.has_room(1));
  budget.give_back(0);
  budget.give_back(1);
  budget.take(2);
  EXPECT_FALSE(budget.has_room(0));
}

TEST(ThreadBudget, GivesFewPointsMoreThreadsAndBigOnesAllTheMemory) {
  const ToyPlan plan("[axes]\nslope = [1, 2, 100]");
  EXPECT_EQ(ThreadBudget(*plan, 3, 8, 1'000'000).threads_for(0), 2);
  // The point wants 1000 bytes; an eighth of the memory is less.
  EXPECT_EQ(ThreadBudget(*plan, 100, 8, 4'000).threads_for(0), 8);
  EXPECT_EQ(ThreadBudget(*plan, 100, 8, 80'000).threads_for(0), 1);
}

class StudyTable : public testing::Test {
 protected:
  PointRecord& add(const std::string& key, std::vector<Value> axis_values) {
    study_.points.push_back({key, std::move(axis_values)});
    records_.emplace_back();
    records_.back().key = key;
    return records_.back();
  }
  std::string csv(bool timing = false) {
    Store store(folder_ / "s.db", Store::Mode::write);
    for (const PointRecord& record : records_) store.put(record);
    return io::to_csv(study_table(study_, store, timing));
  }
  ScratchFolder folder_;
  StudyRecord study_;
  std::deque<PointRecord> records_;
};

TEST_F(StudyTable, ShowsAxesThatTheRowsDoNotRepeat) {
  study_.axes = {"alpha", "layers", "skip"};
  for (const int layers : {1, 2}) {
    PointRecord& record =
        add(std::to_string(layers),
            {std::vector<double>{0.5}, std::int64_t{layers}, std::vector<double>{1.0, 0.25}});
    record.table = Table({{"alpha", "", "", false}, {"layers", "", "", false}});
    record.table.add_row({0.5, std::string("all")});
  }
  EXPECT_EQ(csv(), "axis_layers,skip,alpha,layers\n1,\"1,0.25\",0.5,all\n2,\"1,0.25\",0.5,all\n");
}

TEST_F(StudyTable, JoinsPointsWithDifferentColumns) {
  study_.axes = {"n"};
  add("a", {std::int64_t{1}}).table = Table({{"x", "", "", false}, {"Q11", "", "", true}});
  records_.back().table.add_row({1.5, Estimate{0.5, 0.1}});
  add("b", {std::int64_t{2}}).table = Table({{"x", "", "", false}});  // no rows
  add("c", {std::int64_t{3}}).table = Table({{"x", "", "", false}, {"Q22", "", "", true}});
  records_.back().table.add_row({2.5, Estimate{0.25, 0.0}});
  EXPECT_EQ(csv(), "n,x,Q11,Q11_err,Q22,Q22_err\n1,1.5,0.5,0.1,,\n3,2.5,,,0.25,0\n");
}

TEST_F(StudyTable, HasTimesOnlyWhenAsked) {
  study_.axes = {"n"};
  PointRecord& record = add("a", {std::int64_t{1}});
  record.table = Table({{"x", "", "", false}});
  record.table.add_row({1.5});
  record.seconds = 0.5;
  record.host = "here";
  record.finished = "then";
  EXPECT_EQ(csv(true), "n,x,seconds,threads,host,finished\n1,1.5,0.5,1,here,then\n");
}

TEST_F(StudyTable, AStopEndsTheFirstPassOverItsPoints) {
  add("a", {}).table = Table({{"x", "", "", false}});
  add("b", {});
  Store store(folder_ / "s.db", Store::Mode::write);
  store.put(records_.front());
  std::stop_source stop;
  EXPECT_EQ(StudyRows(study_, store, false, stop.get_token()).missing(), 1U);
  stop.request_stop();
  EXPECT_THROW(StudyRows(study_, store, false, stop.get_token()), Interrupted);
}

TEST_F(StudyTable, WithoutPointsHasTheAxesOnly) {
  study_.axes = {"n"};
  EXPECT_EQ(csv(), "n\n");
}

}  // namespace
}  // namespace onset::study
