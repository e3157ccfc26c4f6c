#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "onset/core/error.hpp"
#include "onset/study/sweep.hpp"

namespace onset::study {
namespace {

/// A plan whose points have these estimates; nothing else of it is looked at.
Plan plan_of(const std::vector<double>& work) {
  Plan plan;
  for (std::size_t i = 0; i < work.size(); ++i) {
    Point point;
    point.key = "key" + std::to_string(i);
    point.core_seconds = work[i];
    plan.points.push_back(point);
  }
  return plan;
}

double work_of(const Plan& plan, const std::vector<std::size_t>& points) {
  double sum = 0.0;
  for (const std::size_t i : points) sum += plan.points[i].core_seconds;
  return sum;
}

TEST(ChosenPoints, ShardsAreDisjointCoverEverythingAndShareTheWork) {
  // Costs grow along an axis, as they do: every n-th point would give the last job the most.
  std::vector<double> work;
  for (int i = 0; i < 40; ++i) work.push_back(std::exp(0.2 * i));
  const Plan plan = plan_of(work);
  std::vector<std::size_t> all;
  double most = 0.0;
  for (std::size_t job = 1; job <= 4; ++job) {
    const std::vector<std::size_t> mine = chosen_points(plan, {{job, 4}, {}, false});
    EXPECT_TRUE(std::ranges::is_sorted(mine));
    most = std::max(most, work_of(plan, mine));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::ranges::sort(all);
  std::vector<std::size_t> every(work.size());
  std::iota(every.begin(), every.end(), std::size_t{0});
  EXPECT_EQ(all, every);
  // The most expensive first to the least busy job: never above 4/3 of the best (Graham 1969).
  const double mean = work_of(plan, every) / 4.0;
  EXPECT_LE(most, 4.0 / 3.0 * std::max(mean, work.back()));
}

TEST(ChosenPoints, PointsWithoutAnEstimateAreSharedByNumber) {
  const Plan plan = plan_of(std::vector<double>(12, 0.0));
  for (std::size_t job = 0; job < 3; ++job) {
    EXPECT_EQ(chosen_points(plan, {{job, 3}, {}, false}).size(), 4U);
  }
}

TEST(ChosenPoints, SharesOfAllJobsAreThoseOfEachJobAndEmptyOnesAreLeftOut) {
  const Plan plan = plan_of({3.0, 1.0, 4.0, 1.0, 5.0});
  for (const std::size_t count : {1U, 2U, 3U, 5U, 9U}) {
    const auto shares = job_shares(plan, count);
    ASSERT_EQ(shares.size(), std::min<std::size_t>(count, plan.points.size()));
    for (std::size_t job = 0; job < count; ++job) {
      const auto mine = chosen_points(plan, {{job, count}, {}, false});
      EXPECT_EQ(mine, job < shares.size() ? shares[job] : std::vector<std::size_t>()) << job;
    }
  }
}

TEST(ChosenPoints, AShardOfFarMoreJobsThanPointsTakesNoMemoryForThem) {
  const Plan plan = plan_of({1.0, 1.0});
  constexpr std::size_t jobs = std::size_t{1} << 60;
  EXPECT_EQ(chosen_points(plan, {{1, jobs}, {}, false}), (std::vector<std::size_t>{1}));
  EXPECT_TRUE(chosen_points(plan, {{2, jobs}, {}, false}).empty());
}

TEST(ChosenPoints, KeysPickPointsAndAnUnknownOneIsNamed) {
  const Plan plan = plan_of({1.0, 1.0, 1.0});
  EXPECT_EQ(chosen_points(plan, {{}, {"key2", "key0", "key2"}, false}),
            (std::vector<std::size_t>{0, 2}));
  try {
    (void)chosen_points(plan, {{}, {"key7"}, false});
    FAIL() << "an unknown key was accepted";
  } catch (const InvalidArgument& refusal) {
    EXPECT_EQ(refusal.field(), "point");
    EXPECT_NE(std::string(refusal.what()).find("key7"), std::string::npos);
  }
}

}  // namespace
}  // namespace onset::study
