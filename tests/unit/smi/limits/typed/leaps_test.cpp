#include "smi/limits/typed/leaps.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "onset/numerics/replicates.hpp"
#include "smi/limits/typed/hermite_channel.hpp"
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

/// The weight of v = (z2-z3)/sqrt2 in y = sign(z1) + sign(z1 z2) + sign(z1 z2 z3), given z1 and u =
/// (z2+z3)/sqrt2. With a = abs(u) the label parts v at -a and a where u > 0, and at -a alone where
/// u < 0.
double weight_of_the_last_step() {
  constexpr double step = 1e-3, end = 8.0;  // the midpoint rule errs by less than 1e-7
  double sum = 0.0;
  for (double a = 0.5 * step; a < end; a += step) {
    const double density = std::exp(-0.5 * a * a) / std::sqrt(2.0 * std::numbers::pi);
    const double beyond = 0.5 * std::erfc(a / std::numbers::sqrt2);
    sum += step * density * density * density * (3.0 / beyond + 1.0 / (1.0 - beyond));
  }
  return sum;
}

// With c = sqrt(2/pi), E[z|y] is (c, c, c) for y = 3, (-c, c, c) for -3, (c, -c, -c)/3 for 1 and
// (-c, -c, -c)/3 for -1.
TEST(Leaps, OnAStaircaseOfSignsNothingWaits) {
  const std::string text = "sign(z1)+sign(z1*z2)+sign(z1*z2*z3)";
  const auto steps = leaps_of(text);
  ASSERT_EQ(steps.size(), 2U);
  expect_leap(steps[0], 1, "z1, (z2+z3)/sqrt2");
  expect_leap(steps[1], 1, "(z2-z3)/sqrt2");
  const double exact[] = {2.0 / std::numbers::pi, weight_of_the_last_step()};
  constexpr double useful = 1e-4;
  for (std::size_t i = 0; i < 2; ++i) {
    const Estimate weight = *steps[i].leap.weight;
    EXPECT_NEAR(weight.value, exact[i], many_errors * weight.error);
    EXPECT_LT(weight.error, useful);
  }
  numerics::Replicates first, sum;
  for (const HermiteAverages& a :
       hermite_channel(TypedLink(text, 0.0), KnownDirections::none(3), 1, {}, {})) {
    first.push_back(a.contraction[0](0, 0));
    sum.push_back(0.5 * a.contraction[0].bottomRightCorner(2, 2).sum());
  }
  const Estimate of_first = numerics::reduce(first);
  const Estimate of_sum = numerics::reduce(sum);
  EXPECT_NEAR(of_first.value, 2.0 / (3.0 * std::numbers::pi), many_errors * of_first.error);
  EXPECT_NEAR(of_sum.value, 4.0 / (3.0 * std::numbers::pi), many_errors * of_sum.error);
}

/// Numbers with two digits between bounds.
class Coefficients {
 public:
  explicit Coefficients(unsigned seed) : engine_(seed) {}

  double operator()(double least, double most) {
    const double part = static_cast<double>(engine_()) / static_cast<double>(engine_.max());
    return std::round(100.0 * (least + (most - least) * part)) / 100.0;
  }
  std::string affine() {
    auto& self = *this;
    const double slopes[] = {self(-1.0, 1.0), self(-1.0, 1.0)};
    return fmt::format("({:.2f}*z1+{:.2f}*z2+{:.2f})", slopes[0], slopes[1], self(-0.5, 1.0));
  }

 private:
  std::mt19937 engine_;
};

/// A term of every degree up to four, or of the even ones, whose labels have no mean.
std::string polynomial(unsigned seed, int degrees) {
  Coefficients draw(seed);
  std::string text;
  for (int degree = degrees; degree <= 4; degree += degrees) {
    const int power = static_cast<int>(std::round(draw(0.0, degree)));
    text += fmt::format("{}{:.2f}*z1^{}*z2^{}", text.empty() ? "" : "+", draw(-1.0, 1.0), power,
                        degree - power);
  }
  return text;
}

std::string piecewise_linear(unsigned seed) {
  Coefficients draw(seed);
  const std::string a = draw.affine(), b = draw.affine(), c = draw.affine();
  return "max(" + a + "," + b + ")-relu(" + c + ")";
}

std::string half_spaces(unsigned seed, int count) {
  Coefficients draw(seed);
  std::string text = "step" + draw.affine();
  for (int i = 1; i < count; ++i) text += "*step" + draw.affine();
  return text;
}

/// Nothing of degree one or two would be a leap of three or more, or none at all.
void expect_leap_of_at_most_two(const std::string& text) {
  SCOPED_TRACE(text);
  const TypedLink link(text, 0.0);
  LeapOptions options;
  options.max_degree = 2;
  const auto directions = static_cast<Eigen::Index>(link.directions());
  // The theorems hold for what is left of a link too, along any direction.
  const Eigen::MatrixXd nothing(directions, 0);
  const Eigen::MatrixXd axis = Eigen::MatrixXd::Identity(directions, 1);
  const Eigen::MatrixXd oblique = Eigen::VectorXd::LinSpaced(directions, 0.6, 0.8).normalized();
  for (const Eigen::MatrixXd& known : {nothing, axis, oblique}) {
    const Leap leap = leap_given(link, known, options, {});
    EXPECT_NE(leap.verdict, Verdict::absent) << known;
    // Errors may hide a small weight, and only that.
    constexpr double small = 1e-3;
    if (leap.verdict == Verdict::unresolved) {
      EXPECT_LT(leap.weight->value, small) << known;
    }
  }
}

class HalfSpaces : public testing::TestWithParam<std::string> {};
class LeapAtMostTwo : public testing::TestWithParam<std::string> {};

TEST_P(HalfSpaces, IntersectedLeapByAtMostTwo) {
  expect_leap_of_at_most_two(GetParam());
}

TEST_P(LeapAtMostTwo, OfPolynomialsAndOfPiecewiseLinearLinks) {
  expect_leap_of_at_most_two(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Leaps, HalfSpaces,
                         testing::Values(half_spaces(1, 2), half_spaces(2, 2), half_spaces(3, 3),
                                         half_spaces(4, 3),
                                         "step(1-z1)*step(1+z1)*step(1-z2)*step(1+z2)"));

INSTANTIATE_TEST_SUITE_P(LongLeaps, LeapAtMostTwo,
                         testing::Values(polynomial(1, 1), polynomial(2, 1), polynomial(3, 2),
                                         polynomial(4, 2), "z1*z2*z3", piecewise_linear(1),
                                         piecewise_linear(2), "min(abs(z1),abs(z2))"));

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
