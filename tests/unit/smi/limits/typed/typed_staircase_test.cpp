#include "smi/limits/typed/typed_staircase.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace onset::smi {
namespace {

/// Standard errors (eight replicates) beyond which an agreement fails: false alarms are rarer than
/// 1e-6.
constexpr double many_errors = 17.0;

TypedStaircase stairs_of(const std::string& text) {
  return typed_staircase(TypedLink(text, 0.0), {}, {});
}

void expect_stage(const TypedStage& stage, const std::string& directions, TypedKind kind) {
  EXPECT_EQ(direction_names(stage.directions), directions);
  EXPECT_EQ(static_cast<int>(stage.kind), static_cast<int>(kind));
}

TEST(TypedStaircase, TrivialWeakAndHardAreToldApart) {
  const auto odd = stairs_of("z1^3").stages;
  expect_stage(odd.front(), "z1", TypedKind::trivial);
  // The label is the field itself.
  constexpr double rounding = 1e-7;
  EXPECT_NEAR(odd.front().gain->value, 1.0, rounding);
  const auto even = stairs_of("z1^2").stages;
  expect_stage(even.front(), "z1", TypedKind::weak);
  EXPECT_NEAR(even.front().alpha->value, 0.5, rounding);
  expect_stage(even[1], "z1", TypedKind::perfect);
  // Labels that are 1 to rounding are told apart all the same [links 17].
  const auto saturated =
      typed_staircase(TypedLink("tanh(z1^2)", 0.0), {.max_stages = 1}, {}).stages;
  expect_stage(saturated.front(), "z1", TypedKind::weak);
  EXPECT_NEAR(saturated.front().alpha->value, 0.5, rounding);
  // No symmetry protects this one: the two roots of a label cancel.
  expect_stage(stairs_of("z1^2*exp(-z1^2)").stages.front(), "z1", TypedKind::hard);
}

// One sample in two hundred shows which sign z1 has.
TEST(TypedStaircase, RareLabelsShowWhatTheyShow) {
  const TypedStage stage =
      typed_staircase(TypedLink("sign(z1-2.6)", 0.0), {.max_stages = 1}, {}).stages[0];
  expect_stage(stage, "z1", TypedKind::trivial);
  const double density = std::exp(-0.5 * 2.6 * 2.6) / std::sqrt(2.0 * std::numbers::pi);
  const double mass = 0.5 * std::erfc(2.6 / std::numbers::sqrt2);
  EXPECT_NEAR(stage.gain->value, density * density / (mass * (1.0 - mass)),
              many_errors * stage.gain->error);
}

// Folds beside the extreme values, pieces that a switch cuts off at a point of symmetry, and a
// switch with a kink: by independent quadratures in the label and in the field.
TEST(TypedStaircase, FirstThresholdsCoverLabelsAtFoldsAndCorners) {
  struct Case {
    const char* link;
    double alpha;
    double error;
  };
  for (const auto& [link, alpha, error] : {Case{"cos(z1)", 0.5090963826, 1e-8},
                                           {"min(z1^2,1)", 0.8806132676, 1e-8},
                                           {"(z1^2-4)^4", 0.62897821024, 1e-8},
                                           {"sign(abs(z1)-0.5+0.3*e1)", 2.3240085, 1e-4}}) {
    const TypedStage stage = typed_staircase(TypedLink(link, 0.0), {.max_stages = 1}, {}).stages[0];
    expect_stage(stage, "z1", TypedKind::weak);
    constexpr double last_digit = 1e-10;
    EXPECT_NEAR(stage.alpha->value, alpha, many_errors * stage.alpha->error + last_digit) << link;
    EXPECT_LT(stage.alpha->error, error) << link;
  }
}

// A cosine of a uniform angle, and a radius that labels do not show: (E r)^2 / 2 = pi/4.
TEST(TypedStaircase, FunctionsOfTheAngleAreResolvedAroundTheOrigin) {
  const auto stage =
      typed_staircase(TypedLink("z1/sqrt(z1^2+z2^2)", 0.0), {.max_stages = 1}, {}).stages.front();
  expect_stage(stage, "z1", TypedKind::trivial);
  EXPECT_NEAR(stage.gain->value, 0.25 * std::numbers::pi, many_errors * stage.gain->error);
  EXPECT_LT(stage.gain->error, 2e-4);
}

// Both directions at one threshold: the growth rate of z1 by itself is 0 [links 5].
TEST(TypedStaircase, DirectionsGrowTogether) {
  const auto stages = typed_staircase(TypedLink("sign(z1)*z2", 0.0), {.max_stages = 1}, {}).stages;
  expect_stage(stages.front(), "z1, z2", TypedKind::weak);
  const double exact = 1.0 / (1.0 + std::sqrt(1.0 + 4.0 / (std::numbers::pi * std::numbers::pi)));
  EXPECT_NEAR(stages.front().alpha->value, exact, many_errors * stages.front().alpha->error);
}

// Level sets shrink to a point, around which lines lie closer: S = y/P, a chi squared, and
// E (y/P - 1)^2 = 2/P.
TEST(TypedStaircase, SmallLevelSetsAreResolvedAroundTheLeastValue) {
  const auto stage = typed_staircase(TypedLink("z1^2+z2^2", 0.0), {.max_stages = 1}, {}).stages[0];
  expect_stage(stage, "z1, z2", TypedKind::weak);
  EXPECT_NEAR(stage.alpha->value, 1.0, many_errors * stage.alpha->error);
  EXPECT_LT(stage.alpha->error, 1e-4);
}

TEST(LongTypedStaircase, SmallLevelSetsOfThreeFieldsAreToo) {
  const auto stage =
      typed_staircase(TypedLink("z1^2+z2^2+z3^2", 0.0), {.max_stages = 1}, {}).stages[0];
  expect_stage(stage, "z1, z2, z3", TypedKind::weak);
  EXPECT_NEAR(stage.alpha->value, 1.5, many_errors * stage.alpha->error);
  EXPECT_LT(stage.alpha->error, 2e-3);
}

// The laws of log|z1 z2 z3|, and of it weighed with z1^2, are convolutions: a sum over steps of
// 0.002 gives 2.5651804134.
TEST(LongTypedStaircase, AProductOfThreeFieldsHasItsFirstThreshold) {
  const auto stage = typed_staircase(TypedLink("z1*z2*z3", 0.0), {.max_stages = 1}, {}).stages[0];
  expect_stage(stage, "z1, z2, z3", TypedKind::weak);
  EXPECT_NEAR(stage.alpha->value, 2.5651804134, many_errors * stage.alpha->error);
  EXPECT_LT(stage.alpha->error, 2e-2);
}

TEST(TypedStaircase, ParitiesAreHard) {
  expect_stage(stairs_of("sign(z1_1*z1_2*z1_3)").stages.front(), "z1", TypedKind::hard);
}

// No symmetry excludes degree 1 of sin(7 z), whose weight rounding hides: that it is hard cannot be
// said.
TEST(TypedStaircase, WhatIsTooSmallToBeSeenIsNotCalledHard) {
  for (const char* text : {"sin(7*z1)", "cos(6*z1)"}) {
    const TypedStaircase stairs = typed_staircase(TypedLink(text, 0.0), {.max_stages = 1}, {});
    EXPECT_EQ(stairs.stages.front().kind, TypedKind::unresolved) << text;
  }
}

// A label that fixes the fields up to a common sign reaches the bound 1/(P + 1), which no label
// beats: T = z z^T - I [links 12].
TEST(TypedStaircase, SeveralOutputsReachTheBoundOfAllLabels) {
  const TypedStaircase stairs =
      typed_staircase(TypedLink("z1*z2, z1^2-z2^2", 0.0), {.max_stages = 1}, {});
  expect_stage(stairs.stages.front(), "z1, z2", TypedKind::weak);
  EXPECT_NEAR(stairs.stages.front().alpha->value, 1.0 / 3.0,
              many_errors * stairs.stages.front().alpha->error);
}

// The closed value of [links 8].
TEST(TypedStaircase, FirstThresholdsOfFourFieldsMeetTheirTolerance) {
  const TypedStaircase stairs =
      typed_staircase(TypedLink("z1*z2+z3*z4", 0.0), {.tolerance = 3e-4, .max_stages = 1}, {});
  EXPECT_TRUE(stairs.met_tolerance);
  expect_stage(stairs.stages.front(), "z1, z2, z3, z4", TypedKind::weak);
  EXPECT_NEAR(stairs.stages.front().alpha->value, 4.0 / 3.0,
              many_errors * stairs.stages.front().alpha->error);
}

TEST(TypedStaircase, SeveralDiscreteOutputsAreIntegratedOverTheirRegions) {
  const auto stages =
      typed_staircase(TypedLink("sign(z1), sign(z1*z2)", 0.0), {.max_stages = 1}, {}).stages;
  expect_stage(stages.front(), "z1, z2", TypedKind::trivial);
  EXPECT_NEAR(stages.front().gain->value, 2.0 / std::numbers::pi,
              many_errors * stages.front().gain->error);
}

// An atom of one output beside a density of the other.
TEST(LongTypedStaircase, OutputsOfDifferentRanksAreWeighedTogether) {
  const TypedStaircase stairs =
      typed_staircase(TypedLink("z1^2, sign(z2)", 0.0), {.tolerance = 2e-2, .max_stages = 2}, {});
  expect_stage(stairs.stages[0], "z2", TypedKind::trivial);
  EXPECT_NEAR(stairs.stages[0].gain->value, 2.0 / std::numbers::pi,
              many_errors * stairs.stages[0].gain->error);
  expect_stage(stairs.stages[1], "z1", TypedKind::weak);
  EXPECT_NEAR(stairs.stages[1].alpha->value, 0.5, many_errors * stairs.stages[1].alpha->error);
}

// The closed value of [links 12].
TEST(LongTypedStaircase, TwoProductsWithACommonFactorAreLearnedTogether) {
  const TypedStaircase stairs =
      typed_staircase(TypedLink("z1*z2, z2*z3", 0.0), {.tolerance = 1e-2, .max_stages = 1}, {});
  expect_stage(stairs.stages.front(), "z1, z2, z3", TypedKind::weak);
  EXPECT_NEAR(stairs.stages.front().alpha->value, 2.0 / (2.5 + std::sqrt(8.25)),
              many_errors * stairs.stages.front().alpha->error);
}

/// The sample ratio of the fixed point of phase retrieval without noise, by the trapezoid rule: the
/// posterior has two points, and the mean abs(z) tanh(omega abs(z)/V).
double retrieval_alpha(double variance) {
  constexpr double step = 0.05;  // a Gaussian's sum errs by less than rounding
  constexpr double end = 8.0;
  double square = 0.0;
  for (double eta = -end; eta <= end; eta += step) {
    for (double xi = -end; xi <= end; xi += step) {
      const double omega = std::sqrt(1.0 - variance) * eta;
      const double z = std::abs(omega + std::sqrt(variance) * xi);
      const double g = (z * std::tanh(omega * z / variance) - omega) / variance;
      square += step * step * std::exp(-0.5 * (eta * eta + xi * xi)) * g * g;
    }
  }
  return 2.0 * std::numbers::pi * (1.0 / variance - 1.0) / square;
}

// Phase retrieval without noise: exact recovery is possible from 1 on, and small overlaps reach it
// where the branch of fixed points turns, at 1.1285.
TEST(TypedStaircase, SmallOverlapsReachExactRecoveryLater) {
  const TypedStaircase stairs = stairs_of("z1^2");
  const auto& stages = stairs.stages;
  expect_stage(stages.back(), "z1", TypedKind::algorithmic);
  EXPECT_EQ(stages.back().jump->value, 1.0);
  EXPECT_EQ(stages.front().jump->value, 0.0);
  double top = 0.0;
  for (double variance = 0.14; variance < 0.165; variance += 0.001) {
    top = std::max(top, retrieval_alpha(variance));
  }
  EXPECT_NEAR(stages.back().alpha->value, top, many_errors * stages.back().alpha->error);
  EXPECT_TRUE(stairs.met_tolerance);
  EXPECT_LT(stages.back().alpha->error, TypedStaircaseOptions{}.tolerance * top);
}

/// The sign of z (z - c) (z + d) with exp(-c^2/2) = part and exp(-d^2/2) = 1 - part has no mean
/// [links 14].
std::string jumping_link(double part) {
  return fmt::format("sign(z1*(z1-sqrt(-2*log({0})))*(z1+sqrt(-2*log(1-{0}))))", part);
}

// Thresholds by [links 14]; the overlaps just above by one-dimensional integrals over the two
// labels' probabilities.
TEST(TypedStaircase, AnOverlapMayJumpAtItsFirstThreshold) {
  struct Known {
    double part, alpha, jump;
  };
  for (const Known& known :
       {Known{0.2, 41.4585963029, 0.99972008}, Known{0.05, 21.8736112120, 0.99899571}}) {
    const TypedStaircase stairs = stairs_of(jumping_link(known.part));
    EXPECT_EQ(stairs.doubt, "");
    ASSERT_EQ(stairs.stages.size(), 1U);
    const TypedStage& stage = stairs.stages.front();
    expect_stage(stage, "z1", TypedKind::weak);
    constexpr double rule = 1e-6;  // relative error of the integral over two labels
    EXPECT_NEAR(stage.alpha->value, known.alpha, known.alpha * rule);
    ASSERT_TRUE(stage.jump.has_value());
    EXPECT_GT(stage.jump->error, 0.0);
    EXPECT_NEAR(stage.jump->value, known.jump, many_errors * stage.jump->error);
  }
}

// The closed values of [links 8].
// alpha rises up to an overlap of 0.05 and falls behind it. The reference is the wrapped posterior
// of cos(c z) by trapezoid rules: its roots have equal slopes.
TEST(LongTypedStaircase, AFoldAtASmallOverlapIsNoJumpAtTheThreshold) {
  const auto stages = typed_staircase(TypedLink("cos(2.8*z1)", 0.0), {}, {}).stages;
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[0].kind, TypedKind::weak);
  EXPECT_EQ(stages[0].jump->value, 0.0);
  EXPECT_EQ(stages[2].kind, TypedKind::algorithmic);
  EXPECT_NEAR(stages[2].alpha->value, 21.189, many_errors * stages[2].alpha->error);
  EXPECT_LT(stages[2].alpha->error, 0.05);
}

TEST(LongTypedStaircase, ALaterThresholdFollowsTheBranchOfWhatIsKnown) {
  const TypedStaircase stairs =
      typed_staircase(TypedLink("max(z1, z2)", 0.0), {.max_stages = 2}, {});
  ASSERT_GE(stairs.stages.size(), 2U);
  expect_stage(stairs.stages[0], "(z1+z2)/sqrt2", TypedKind::trivial);
  expect_stage(stairs.stages[1], "(z1-z2)/sqrt2", TypedKind::weak);
  EXPECT_NEAR(stairs.stages[0].gain->value, 0.7402689790,
              many_errors * stairs.stages[0].gain->error);
  EXPECT_NEAR(stairs.stages[1].alpha->value, 0.9971593170,
              many_errors * stairs.stages[1].alpha->error);
  EXPECT_LT(stairs.stages[1].alpha->error, 2e-3);
}

// The weak threshold of [links 8] of who votes what in a committee: by default it meets what is
// asked for.
TEST(LongTypedStaircase, ALaterThresholdOfADiscreteLabelMeetsItsTolerance) {
  const TypedStaircase stairs =
      typed_staircase(TypedLink("sign(z1)+sign(z2)", 0.0), {.max_stages = 2}, {});
  ASSERT_GE(stairs.stages.size(), 2U);
  EXPECT_TRUE(stairs.met_tolerance);
  expect_stage(stairs.stages[1], "(z1-z2)/sqrt2", TypedKind::weak);
  EXPECT_NEAR(stairs.stages[1].alpha->value, 2.052382, many_errors * stairs.stages[1].alpha->error);
}

}  // namespace
}  // namespace onset::smi
