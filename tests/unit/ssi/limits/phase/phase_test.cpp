#include "ssi/limits/phase/phase.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "onset/ssi/limits/landscape.hpp"
#include "support/ssi_models.hpp"
#include "support/tolerances.hpp"

namespace onset::ssi {
namespace {

/// The tables of the diagram are interpolated to eight digits.
constexpr double eighth_digit = 1e-8;

using testing::mixture;

class SsiPhase : public ::testing::Test {
 protected:
  static const PhaseDiagram& diagram() {
    static const PhaseDiagram one{Context{}};
    return one;
  }
};

TEST_F(SsiPhase, TheStartSwitchesWhereTheClosedFormSays) {
  const double p0 = 1.0 - 1.0 / (2.0 * std::numbers::sqrt2);
  const double p2 = 1.0 / (2.0 * std::numbers::sqrt2);
  const double w2 = 0.110251168891;
  const double f2 = 0.680734125000;
  for (const double a : {0.8, 1.0, 1.7}) {
    const double alpha = 1.0 / (1.0 + std::exp(-2.0 * a * a));
    const double k = 2 * (2 * p0 - 1) * p2 - 2 * w2;
    const double expected = (f2 / 2 - k) / (2 * (2 * alpha - 1) * p2 - k);
    EXPECT_NEAR(diagram().curves(a).start_switches->value, expected, eighth_digit);
  }
  EXPECT_NEAR(diagram().curves(1.0).start_switches->value, 0.6409626179, eighth_digit);
  EXPECT_FALSE(diagram().curves(0.7243).start_switches);
  EXPECT_TRUE(diagram().curves(0.7245).start_switches);
}

TEST_F(SsiPhase, TheCurvesAreOrderedNearOne) {
  const PhaseCurves x = diagram().curves(1.0);
  EXPECT_LT(x.positional_appears->value, x.start_switches->value);
  EXPECT_LT(x.start_switches->value, x.global_switches->value);
  EXPECT_LT(x.global_switches->value, x.semantic_ends->value);
  for (const auto& curve :
       {x.positional_appears, x.start_switches, x.global_switches, x.semantic_ends}) {
    EXPECT_LT(curve->error, 1e-6);
  }
}

TEST_F(SsiPhase, PointsChangeWhereTheCurvesSay) {
  const PhaseCurves x = diagram().curves(1.0);
  const double h = 1e-5;
  const auto point = [&](const std::optional<Estimate>& curve, double shift) {
    return diagram().point(1.0, curve->value + shift);
  };
  EXPECT_EQ(point(x.positional_appears, -h).minima, 1);
  EXPECT_EQ(point(x.positional_appears, h).minima, 2);
  EXPECT_EQ(point(x.start_switches, -h).start_type, "semantic");
  EXPECT_EQ(point(x.start_switches, h).start_type, "positional");
  EXPECT_EQ(point(x.global_switches, -h).global_type, "semantic");
  EXPECT_EQ(point(x.global_switches, h).global_type, "positional");
  EXPECT_EQ(point(x.semantic_ends, -h).minima, 2);
  EXPECT_EQ(point(x.semantic_ends, h).minima, 1);
}

TEST_F(SsiPhase, TheRiskIsThatOfTheModel) {
  const auto landscape = population_risk(mixture(0.9, 0.7), 1, {});
  for (const auto& [e, m] : {std::pair{0.0, 0.0}, {0.3, 0.5}, {0.8, 0.6}, {0.0, 1.0}, {1.0, 0.0}}) {
    EXPECT_NEAR(diagram().risk(0.9, 0.7, e, m).value, landscape->at(e, m).risk.value, eighth_digit);
  }
}

TEST_F(SsiPhase, AMixedMinimumIsCalledMixed) {
  const PhasePoint x = diagram().point(0.74, 0.99);
  EXPECT_EQ(x.global_type, "mixed");
  EXPECT_NEAR(std::hypot(x.e_min->value, x.m_min->value), 1.0, tolerance::thousands_of_roundings);
  EXPECT_GT(x.e_min->value, 0.3);
  EXPECT_GT(x.m_min->value, 0.3);
  EXPECT_EQ(x.minima, 1);
}

TEST_F(SsiPhase, AtOmegaOneNothingDependsOnTheTeacher) {
  const PhasePoint x = diagram().point(1.0, 1.0);
  EXPECT_EQ(x.global_type, "degenerate");
  EXPECT_FALSE(x.minima);
  EXPECT_FALSE(x.m_min);
}

}  // namespace
}  // namespace onset::ssi
