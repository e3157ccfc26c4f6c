#include "smi/limits/typed/typed_branch.hpp"

#include <gtest/gtest.h>

namespace onset::smi {
namespace {

constexpr double tolerance = 1e-3;

TEST(BranchEffort, StaysWhereASampleRatioIsAccurate) {
  BranchEffort effort({tolerance, 256, 4096});
  EXPECT_FALSE(effort.grow({0.5, tolerance}, 0.0));
  // Above 1 the tolerance is relative.
  EXPECT_FALSE(effort.grow({3.0, 3.0 * tolerance}, 0.0));
  EXPECT_EQ(effort.points(), 256u);
  EXPECT_EQ(effort.refinement(), 1.0);
}

TEST(BranchEffort, TakesAsManyPointsAsScatterNeedsAndNoMoreThanAllowed) {
  BranchEffort effort({tolerance, 256, 4096});
  EXPECT_TRUE(effort.grow({0.5, 1.1 * tolerance}, 0.0));
  EXPECT_EQ(effort.points(), 512u);
  EXPECT_TRUE(effort.grow({0.5, 3.0 * tolerance}, 0.0));
  EXPECT_EQ(effort.points(), 2048u);
  EXPECT_TRUE(effort.grow({0.5, 50.0 * tolerance}, 0.0));
  EXPECT_EQ(effort.points(), 4096u);
  EXPECT_FALSE(effort.grow({0.5, 2.0 * tolerance}, 0.0));
  EXPECT_EQ(effort.refinement(), 1.0);
}

TEST(BranchEffort, TakesCloserLinesAgainstBias) {
  BranchEffort effort({tolerance, 256, 4096});
  const double bias = 2.0 * tolerance;  // relative to a sample ratio of 1
  for (const double refinement : {2.0, 4.0, 8.0}) {
    EXPECT_TRUE(effort.grow({1.0, bias}, bias));
    EXPECT_EQ(effort.refinement(), refinement);
  }
  EXPECT_FALSE(effort.grow({1.0, bias}, bias));
  EXPECT_EQ(effort.points(), 256u);
}

}  // namespace
}  // namespace onset::smi
