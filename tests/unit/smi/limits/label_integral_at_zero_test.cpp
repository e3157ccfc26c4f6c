#include "smi/limits/label_integral_at_zero.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "smi/model/links.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

std::optional<ChannelAtZero> of(const char* link) {
  return label_integral_at_zero(*link_model(link), {});
}

// The closed forms of docs/math/links.md.
TEST(LabelIntegralAtZero, GrowthRatesAreTheClosedOnes) {
  constexpr double pi = std::numbers::pi;
  EXPECT_NEAR(of("square")->growth[0][0], 2.0, tolerance::magnified_roundings);
  EXPECT_NEAR(of("norm")->growth[0][0], 1.0, tolerance::magnified_roundings);
  EXPECT_NEAR(of("sign-product")->growth[0][0], 4.0 / (pi * pi), tolerance::magnified_roundings);
  EXPECT_EQ(of("parity3")->growth[0][0], 0.0);
  // Given with nine digits.
  constexpr double ninth_digit = 1e-9;
  EXPECT_NEAR(1.0 / of("product")->growth[0][0], 0.593751098, ninth_digit);
  EXPECT_NEAR(1.0 / of("token-product")->growth[0][0], 0.296875549, ninth_digit);
}

TEST(LabelIntegralAtZero, PullsAreTheClosedGains) {
  constexpr double pi = std::numbers::pi;
  EXPECT_NEAR(of("sign")->pull[0][0], 2.0 / pi, tolerance::magnified_roundings);
  EXPECT_NEAR(of("relu")->pull[0][0], 0.5 + 1.0 / pi, tolerance::magnified_roundings);
  EXPECT_NEAR(of("committee")->pull[0][0], 2.0 / pi, tolerance::magnified_roundings);
}

// 2 lambda_2^2 = 1.7386: the two branches z1^2 - 1 and z1^2 + 1 of its label overlap.
TEST(LabelIntegralAtZero, TheStaircaseHasTheGrowthRateOfItsLabel) {
  EXPECT_NEAR(of("staircase")->growth[0][0], 1.7386, tolerance::fourth_digit);
}

TEST(LabelIntegralAtZero, LabelsOfSeveralNumbersAreNotForIt) {
  EXPECT_FALSE(of("attention").has_value());
}

}  // namespace
}  // namespace onset::smi
