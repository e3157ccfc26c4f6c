#include "smi/limits/typed/leaps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "smi/limits/typed/symmetric_tensors.hpp"
#include "smi/limits/typed/typed_staircase.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

/// Standard errors (eight replicates) beyond which an agreement fails: false alarms are rarer than
/// 1e-6.
constexpr double many_errors = 17.0;
/// What rules over the label without scatter leave out, beyond their stated error.
constexpr double rule_rounding = 1e-7;

std::vector<LeapStep> leaps_of(const std::string& text) {
  return leaps(TypedLink(text, 0.0), {}, {});
}

void expect_leap(const LeapStep& step, int degree, const std::string& directions) {
  EXPECT_EQ(step.leap.verdict, Verdict::present);
  EXPECT_EQ(step.leap.degree, degree);
  EXPECT_EQ(direction_names(step.directions), directions);
}

// One field: weights of closed integrals [links 32].
TEST(Leaps, OfOneFieldHaveTheirClosedWeights) {
  const auto linear = leaps_of("z1^3");
  expect_leap(linear.front(), 1, "z1");
  EXPECT_NEAR(linear.front().leap.weight->value, 1.0, rule_rounding);
  const auto square = leaps_of("z1^2");
  expect_leap(square.front(), 2, "z1");
  EXPECT_NEAR(square.front().leap.weight->value, 1.0, rule_rounding);
  const auto sign = leaps_of("sign(z1)");
  EXPECT_NEAR(sign.front().leap.weight->value, 2.0 / std::numbers::pi, rule_rounding);
}

// Rules without scatter know what they leave out: the label of sin(a z) is an angle, of which
// E[z|y] is 2 a exp(-a^2/2) y, and that of cos(a z) shows as much of z^2 [links 7].
TEST(Leaps, TinyWeightsOfOneFieldAreToldFromZero) {
  constexpr double some_errors = 3.0;
  const auto wave = leaps_of("sin(5*z1)");
  expect_leap(wave.front(), 1, "z1");
  EXPECT_NEAR(wave.front().leap.weight->value, 50.0 * std::exp(-25.0),
              some_errors * wave.front().leap.weight->error);
  const auto even = leaps_of("cos(5*z1)");
  expect_leap(even.front(), 2, "z1");
  EXPECT_NEAR(even.front().leap.weight->value, 625.0 * std::exp(-25.0),
              some_errors * even.front().leap.weight->error);
  EXPECT_LT(even.front().leap.weight->error, 1e-11);
}

// Labels of a turning wave are an angle: z itself is seen by 2 a^2 exp(-a^2) of the variance.
TEST(Leaps, TinyWeightsOfPlainLabelsAreToldFromZeroToo) {
  const auto wave = leaps_of("sin(5*z1)");
  const auto& information = wave.front().information;
  EXPECT_EQ(information->degree, 1);
  EXPECT_EQ(information->verdict, Verdict::present);
  constexpr double some_errors = 3.0;
  EXPECT_NEAR(information->weight->value, 50.0 * std::exp(-25.0),
              some_errors * information->weight->error);
}

// Degree 2 has a weight of a^4 exp(-a^2) = 3e-13, which rounding hides: that degree 4, of 3e-11,
// is the first cannot be said.
TEST(Leaps, BesideDegreesThatMayOnlyBeSmallerATinyWeightIsNotTheFirst) {
  const auto steps = leaps_of("cos(6*z1)");
  EXPECT_EQ(steps.front().leap.verdict, Verdict::unresolved);
  EXPECT_NE(steps.front().information->verdict, Verdict::present);
}

// No symmetry protects degree 2: the roots of every label cancel. The weight of degree 4 was
// integrated over the lower root by another program, by a double exponential rule.
TEST(Leaps, CancellingRootsLeaveDegreeFour) {
  const auto steps = leaps_of("z1^2*exp(-z1^2)");
  expect_leap(steps.front(), 4, "z1");
  constexpr double some_errors = 3.0;
  const Estimate weight = *steps.front().leap.weight;
  EXPECT_NEAR(weight.value, 0.229957622504, some_errors * weight.error);
  EXPECT_LT(weight.error, 1e-9);
}

TEST(Leaps, TransformedLabelsLeapLessThanPlainOnes) {
  const auto steps = leaps_of("z1^4-6*z1^2+3");
  expect_leap(steps.front(), 2, "z1");
  EXPECT_EQ(steps.front().information->degree, 4);
  for (const char* text : {"z1^2", "exp(z1)", "relu(z1)", "cos(z1)"}) {
    const auto own = leaps_of(text);
    ASSERT_EQ(own.front().information->verdict, Verdict::present) << text;
    EXPECT_GE(*own.front().information->degree, *own.front().leap.degree) << text;
  }
}

TEST(Leaps, LabelsWithoutVarianceHaveNoInformationLeap) {
  for (const std::string text : {"1/z1", "1/sqrt(abs(z1))", "exp(z1^2)", "exp(z1^2/4)"}) {
    EXPECT_FALSE(leaps_of(text).front().information.has_value()) << text;
  }
  EXPECT_TRUE(leaps_of("z1^3").front().information.has_value());
}

// lambda_r^2 = (2/pi)^r of a parity of r fields.
// Rare fields carry most of their variance, but they have one.
TEST(Leaps, HeavyTailsHaveAnInformationLeap) {
  const std::pair<std::string, int> cases[] = {
      {"He5(z1)", 5}, {"z1^6", 2}, {"z1^7", 1}, {"exp(3*z1)", 1}, {"He3(z1)^3", 1}};
  for (const auto& [text, degree] : cases) {
    const auto found = leaps_of(text).front().information;
    ASSERT_TRUE(found.has_value()) << text;
    EXPECT_EQ(found->verdict, Verdict::present) << text;
    EXPECT_EQ(found->degree, degree) << text;
  }
}

TEST(Leaps, ParitiesLeapByTheirOrder) {
  const auto two = leaps_of("sign(z1*z2)");
  expect_leap(two.front(), 2, "z1, z2");
  EXPECT_NEAR(two.front().leap.weight->value, std::pow(2.0 / std::numbers::pi, 2.0),
              many_errors * two.front().leap.weight->error);
}

TEST(LongLeaps, ThreeFieldsLeapByThreeAndAStaircaseByTwoTwice) {
  const auto parity = leaps_of("sign(z1*z2*z3)");
  expect_leap(parity.front(), 3, "z1, z2, z3");
  EXPECT_NEAR(parity.front().leap.weight->value, std::pow(2.0 / std::numbers::pi, 3.0),
              many_errors * parity.front().leap.weight->error);
  // Lines are cut at every factor of the product: none of its close pairs of zeros is missed.
  constexpr double exact_cuts = 1e-5;
  EXPECT_LT(parity.front().leap.weight->error, exact_cuts);
  EXPECT_EQ(parity.front().information->degree, 3);
  EXPECT_EQ(parity.front().information->verdict, Verdict::present);
  const auto stairs = leaps_of("z1^2+sign(z1*z2*z3)");
  ASSERT_EQ(stairs.size(), 2U);
  expect_leap(stairs[0], 2, "z1");
  expect_leap(stairs[1], 2, "z2, z3");
  EXPECT_NEAR(stairs[1].leap.weight->value, std::pow(2.0 / std::numbers::pi, 2.0),
              many_errors * stairs[1].leap.weight->error);
}

// Given z1 exactly, the label only says the sign of z2 z3, although it changes with z1: an atom.
TEST(Leaps, ALabelThatChangesWithKnownFieldsAloneIsAnAtom) {
  const TypedLink link("z1^2+sign(z1*z2*z3)", 0.0);
  Eigen::MatrixXd known = Eigen::MatrixXd::Zero(3, 1);
  known(0, 0) = 1.0;
  const Leap leap = leap_given(link, known, {}, {});
  EXPECT_EQ(leap.verdict, Verdict::present);
  EXPECT_EQ(leap.degree, 2);
  EXPECT_NEAR(leap.weight->value, std::pow(2.0 / std::numbers::pi, 2.0),
              many_errors * leap.weight->error);
}

// What is known need not be an axis: given z1 + z2 the other output is a bit |z1 - z2| > 1.
TEST(Leaps, ABitOfWhatARotatedDirectionLeavesOpenIsSeen) {
  const auto steps = leaps_of("z1+z2, sign((z1-z2)^2-1)");
  ASSERT_EQ(steps.size(), 2U);
  expect_leap(steps[0], 1, "(z1+z2)/sqrt2");
  expect_leap(steps[1], 2, "(z1-z2)/sqrt2");
  const double c = std::sqrt(0.5);
  const double part = 2.0 * c * std::exp(-0.25) / std::sqrt(2.0 * std::numbers::pi);
  const double mass = std::erfc(0.5);
  const Estimate weight = *steps[1].leap.weight;
  EXPECT_NEAR(weight.value, part * part / (2.0 * mass * (1.0 - mass)), many_errors * weight.error);
}

TEST(SymmetricTensors, CountsWhatSignedPermutationsLeaveAlone) {
  const TypedLink parity("sign(z1*z2*z3)", 0.0);
  const KnownDirections none = KnownDirections::none(3);
  // z1 z2 z3 at degree 3, and z1^2 + z2^2 + z3^2 at degree 2; no vector is left alone.
  EXPECT_EQ(symmetric_tensors(parity, none, 1), 0);
  EXPECT_EQ(symmetric_tensors(parity, none, 2), 1);
  EXPECT_EQ(symmetric_tensors(parity, none, 3), 1);
  const TypedLink sum("max(z1,z2)", 0.0);
  EXPECT_EQ(symmetric_tensors(sum, KnownDirections::none(2), 1), 1);
  const TypedLink noisy("z1*e1", 0.0);
  EXPECT_EQ(symmetric_tensors(noisy, KnownDirections::none(1), 1), 0);
}

// A change of one sign turns the label, so that E[y h] has no part of degree 2, which labels might
// show; of four fields scatter alone would not tell.
TEST(SymmetricTensors, ProjectionsOfALabelThatTurnsChangeTheirSign) {
  const TypedLink parity("sign(z1*z2*z3)+1", 0.0);
  const KnownDirections none = KnownDirections::none(3);
  EXPECT_EQ(projected_tensors(parity, none, 1), 0);
  EXPECT_EQ(projected_tensors(parity, none, 2), 0);
  EXPECT_EQ(projected_tensors(parity, none, 3), 1);
  const auto four = leaps_of("sign(z1*z2*z3*z4)").front().information;
  ASSERT_TRUE(four.has_value());
  EXPECT_EQ(four->verdict, Verdict::present);
  EXPECT_EQ(four->degree, 4);
  EXPECT_NEAR(four->weight->value, std::pow(2.0 / std::numbers::pi, 4),
              many_errors * four->weight->error);
}

TEST(SamplePower, IsHalfTheLargestLeapButAtLeastOne) {
  EXPECT_EQ(sample_power(1), 1.0);
  EXPECT_EQ(sample_power(2), 1.0);
  EXPECT_EQ(sample_power(3), 1.5);
  EXPECT_EQ(sample_power(4), 2.0);
}

}  // namespace
}  // namespace onset::smi
