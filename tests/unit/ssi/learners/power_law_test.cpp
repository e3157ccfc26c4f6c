#include "ssi/learners/power_law.hpp"

#include <gtest/gtest.h>

#include "support/tolerances.hpp"

namespace onset::ssi {
namespace {

TEST(SsiPowerLaw, IsRecovered) {
  const std::vector<double> sizes{2, 4, 8};
  const std::vector<Estimate> values{{8, 0.1}, {32, 0.4}, {128, 1.6}};
  const auto law = power_law(sizes, values);
  ASSERT_TRUE(law);
  EXPECT_NEAR(law->exponent.value, 2.0, tolerance::thousands_of_roundings);
  EXPECT_GT(law->exponent.error, 0.0);
  EXPECT_NEAR(law->at(16).value / 512.0, 1.0, tolerance::thousands_of_roundings);
  EXPECT_FALSE(power_law({2}, {{4, 0.1}}));
}

TEST(SsiPowerLaw, OfTwoPointsHasTheirErrorsThere) {
  const auto law = power_law({2, 8}, {{4, 0.1}, {64, 3.2}});
  ASSERT_TRUE(law);
  EXPECT_NEAR(law->at(2).error, 0.1, tolerance::thousands_of_roundings);
  EXPECT_NEAR(law->at(8).error, 3.2, tolerance::thousands_of_roundings);
  EXPECT_GT(law->at(32).error / law->at(32).value, 3.2 / 64);  // beyond the data it is less certain
}

}  // namespace
}  // namespace onset::ssi
