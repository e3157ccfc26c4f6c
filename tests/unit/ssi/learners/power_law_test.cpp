#include "ssi/learners/power_law.hpp"

#include <gtest/gtest.h>

#include "support/tolerances.hpp"

namespace onset::ssi {
namespace {

TEST(SsiPowerLaw, IsRecovered) {
  const std::vector<double> sizes{2, 4, 8};
  const std::vector<Estimate> values{{8, 0.1}, {32, 0.4}, {128, 1.6}};
  const auto slope = power_law(sizes, values);
  ASSERT_TRUE(slope);
  EXPECT_NEAR(slope->value, 2.0, tolerance::thousands_of_roundings);
  EXPECT_GT(slope->error, 0.0);
  EXPECT_FALSE(power_law({2}, {{4, 0.1}}));
}

}  // namespace
}  // namespace onset::ssi
