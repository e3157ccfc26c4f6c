#include "onset/numerics/replicates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "numerics/random.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

/// A share of 0.683 of 20000 sets is known to 0.0033: six of these, a false alarm in 5e8.
constexpr double six_deviations = 0.02;

TEST(Replicates, ReduceGivesTheMeanAndItsStandardError) {
  const Replicates values = {1.0, 2.0, 3.0, 4.0};
  const Estimate estimate = reduce(values);
  EXPECT_DOUBLE_EQ(estimate.value, 2.5);
  EXPECT_DOUBLE_EQ(estimate.error, std::sqrt(5.0 / 3.0 / 4.0));
  EXPECT_DOUBLE_EQ(mean(values), 2.5);
}

TEST(Replicates, ABiasBoundIsAddedInQuadrature) {
  const Replicates values = {-3.0, 3.0};
  EXPECT_DOUBLE_EQ(reduce(values, 4.0).error, 5.0);
  EXPECT_DOUBLE_EQ(reduce(Replicates{1.0, 1.0}, 0.5).error, 0.5);
}

TEST(Replicates, EqualValuesHaveNoError) {
  EXPECT_EQ(reduce(Replicates(16, 0.1)).value, 0.1);
  EXPECT_EQ(reduce(Replicates(16, 0.1)).error, 0.0);
}

TEST(Replicates, FewerThanTwoValuesHaveNoStandardError) {
  EXPECT_THROW((void)reduce(Replicates{1.0}), InvalidArgument);
  EXPECT_THROW((void)reduce(Replicates{}), InvalidArgument);
  EXPECT_THROW((void)mean(Replicates{}), InvalidArgument);
}

TEST(Replicates, MapActsOnEveryReplicate) {
  EXPECT_EQ(map(Replicates{1.0, 4.0, 9.0}, [](double x) { return std::sqrt(x); }),
            (Replicates{1.0, 2.0, 3.0}));
}

TEST(MeanOverRuns, CoversTheMeanOfFewRunsAsOftenAsThatOfMany) {
  // 20000 sets: a share of 0.683 is known to 0.0033; six of these (a false alarm in 5e8).
  for (const std::size_t runs : {std::size_t{2}, std::size_t{4}, std::size_t{16}}) {
    Stream stream(3, "test runs", runs);
    std::vector<double> values(runs);
    int covered = 0;
    for (int set = 0; set < 20000; ++set) {
      stream.normal(values);
      const Estimate mean = mean_over_runs(values);
      covered += std::abs(mean.value) < mean.error ? 1 : 0;
    }
    EXPECT_NEAR(covered / 20000.0, 0.6827, six_deviations) << runs;
  }
}

TEST(MeanOverRuns, OfOneRunIsNotKnown) {
  const Estimate one = mean_over_runs(std::vector<double>{0.3});
  EXPECT_EQ(one.value, 0.3);
  EXPECT_TRUE(std::isnan(one.error));
}

}  // namespace
}  // namespace onset::numerics
