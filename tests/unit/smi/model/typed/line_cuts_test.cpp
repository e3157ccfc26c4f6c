#include "smi/model/typed/line_cuts.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace onset::smi {
namespace {

constexpr double rounding = 1e-12;

// z1 = 0.5 + 0.6 t and z2 = 0.8 t: the sign of z1 changes at -5/6, that of z2 - 1 at 5/4.
TEST(LineCuts, AreWhereSwitchesChangeSign) {
  const TypedLink link("sign(z1)+relu(z2-1)", 0.0);
  const FieldLine line{{0.5, 0.0}, {0.6, 0.8}};
  const std::vector<double> ends = line_cuts(link, line, 3.0, 1.0);
  ASSERT_EQ(ends.size(), 4U);
  EXPECT_EQ(ends.front(), -3.0);
  EXPECT_NEAR(ends[1], -5.0 / 6.0, rounding);
  EXPECT_NEAR(ends[2], 1.25, rounding);
  EXPECT_EQ(ends.back(), 3.0);
  EXPECT_NEAR(middles(ends)[1], 0.5 * (1.25 - 5.0 / 6.0), rounding);
}

// A bump of width 0.02 between two steps of 0.1.
TEST(LineCuts, AreFoundInSmallerSteps) {
  const TypedLink link("relu(cos(100*z1)-0.9)", 0.0);
  const FieldLine line{{0.0}, {1.0}};
  const double rise = std::acos(0.9) / 100.0;
  const std::vector<double> ends = line_cuts(link, line, 0.05, 64.0);
  ASSERT_EQ(ends.size(), 4U);
  EXPECT_NEAR(ends[1], -rise, rounding);
  EXPECT_NEAR(ends[2], rise, rounding);
}

}  // namespace
}  // namespace onset::smi
