#include "aim/model/channels/hardmax/choices.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace onset::aim {
namespace {

/// Nothing known: the diagonal is the best choice, and the largest of what is known is any of them.
/// With three tokens the diagonal wins with probability p = 1/4 + arcsin(2/3)/(2 pi); with known
/// parts next to nothing the choice by these is right with probability p^2 + (1 - p)^2/2.
TEST(BestChoices, WithoutKnowledgeTheyAreTheDiagonal) {
  const double p = 0.25 + std::asin(2.0 / 3.0) / (2.0 * std::numbers::pi);
  const double by_chance = p * p + 0.5 * (1.0 - p) * (1.0 - p);
  const Estimate gain = gain_of_best_choices(1.0 - 1e-12, 3, 1);
  constexpr double deviations = 5.0;  // false alarms: 6e-7 for normal errors
  constexpr double next_order = 1e-6;
  EXPECT_NEAR(gain.value, p - by_chance, deviations * gain.error + next_order);
  EXPECT_LT(gain.error, 0.01);
}

TEST(BestChoices, GainIsNothingWhereAllIsKnownAndSmallNearIt) {
  EXPECT_EQ(gain_of_best_choices(0.0, 4, 1).value, 0.0);
  const Estimate near = gain_of_best_choices(0.05, 4, 1);
  EXPECT_GE(near.value, 0.0);
  EXPECT_LT(near.value, 0.01);
}

}  // namespace
}  // namespace onset::aim
