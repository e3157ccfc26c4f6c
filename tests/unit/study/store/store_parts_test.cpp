#include "study/store/store_parts.hpp"

#include <gtest/gtest.h>

#include "unit/study/toy_study.hpp"

namespace onset::study {
namespace {

/// A store with a study of six points: 1, 2 and 3 are ok, -1 has not converged, -2 is refused and 4
/// is missing. The point 9 belongs to another study.
class StorePartsTest : public ::testing::Test {
 protected:
  StorePartsTest() {
    for (const ToyPlan* plan : {&plan_, &other_}) {
      StudyRecord record = record_of(**plan);
      if (plan == &other_) record.name = "other";
      store_.put(record);
    }
    for (std::size_t i = 0; i < 5; ++i) file(*plan_, i);
    file(*other_, 0);
  }

  void file(const Plan& plan, std::size_t i) {
    PointRecord record = *compute_point(*plan.verb, begin_point(plan, i, 1), {});
    record.finished = "2026-01-01T00:00:0" + std::to_string(i) + "Z";
    store_.put(record);
  }

  static std::vector<double> slopes(const StudyRecord& study) {
    std::vector<double> out;
    for (const auto& entry : study.points) out.push_back(std::get<double>(entry.axis_values[0]));
    return out;
  }

  ScratchFolder folder_;
  ToyPlan plan_{"[axes]\nslope = [1, -1, -2, 2, 3, 4]\n"};
  ToyPlan other_{"[axes]\nslope = [9, 1]\n"};
  Store store_{folder_ / "toy.db", Store::Mode::write};
  Store reader_{folder_ / "toy.db", Store::Mode::read};
};

TEST_F(StorePartsTest, CountsWithoutReadingResults) {
  const StoreParts parts(reader_);
  const std::vector<StudyHead> heads = parts.studies();
  ASSERT_EQ(heads.size(), 2U);
  EXPECT_EQ(heads[0].name, "toy");
  EXPECT_EQ(heads[0].command, "toy line");
  EXPECT_EQ(heads[0].points, 6U);
  EXPECT_EQ(heads[0].source, store_.study("toy").source);
  EXPECT_EQ(parts.counts(heads[0]),
            (std::map<std::string, std::size_t>{
                {"ok", 3}, {"unconverged", 1}, {"refused", 1}, {"missing", 1}}));
  EXPECT_EQ(parts.counts(heads[1]), (std::map<std::string, std::size_t>{{"ok", 2}}));
}

TEST_F(StorePartsTest, KnowsWhichPointsOfAStudyWereFiledLast) {
  const auto last = [this](std::size_t count) {
    const StoreParts parts(reader_);
    return parts.last_finished(parts.studies()[0], count);
  };
  EXPECT_EQ(last(2), (std::vector<std::string>{"2026-01-01T00:00:04Z", "2026-01-01T00:00:03Z"}));
  file(*plan_, 1);  // filed again: now the last
  EXPECT_EQ(last(1), (std::vector<std::string>{"2026-01-01T00:00:01Z"}));
}

TEST_F(StorePartsTest, GivesThePointsThatWereAskedFor) {
  const StoreParts parts(reader_);
  const StudyHead head = parts.studies()[0];
  EXPECT_EQ(slopes(parts.part(head, {0, 1, 100})), (std::vector<double>{1, -1, -2, 2, 3, 4}));
  EXPECT_EQ(slopes(parts.part(head, {1, 2, 100})), (std::vector<double>{-1, 2, 4}));
  EXPECT_EQ(slopes(parts.part(head, {1, 2, 2})), (std::vector<double>{-1, 2}));
  EXPECT_TRUE(parts.part(head, {6, 1, 100}).points.empty());
  EXPECT_EQ(slopes(parts.not_ok(head, {0, 1, 100})), (std::vector<double>{-1, -2}));
  EXPECT_EQ(slopes(parts.not_ok(head, {1, 1, 100})), (std::vector<double>{-2}));
  EXPECT_EQ(parts.part(head, {0, 1, 1}).axes, store_.study("toy").axes);
}

}  // namespace
}  // namespace onset::study
