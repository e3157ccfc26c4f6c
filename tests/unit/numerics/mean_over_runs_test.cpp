#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "onset/numerics/random.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::numerics {
namespace {

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
    EXPECT_NEAR(covered / 20000.0, 0.6827, 0.02) << runs;
  }
}

TEST(MeanOverRuns, OfOneRunIsNotKnown) {
  const Estimate one = mean_over_runs(std::vector<double>{0.3});
  EXPECT_EQ(one.value, 0.3);
  EXPECT_TRUE(std::isnan(one.error));
}

}  // namespace
}  // namespace onset::numerics
