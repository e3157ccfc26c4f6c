#include "aim/limits/flow/stability.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/tolerances.hpp"
#include "unit/aim/limits/flow/flow_models.hpp"

namespace onset::aim {
namespace {

double limit(FlowModel model, Student student) {
  model.student = student;
  return max_stable_rate(model, *make_risk(model, Precision::fine, 1));
}

TEST(AimFlowStability, AgreesWithAnotherProgram) {
  const FlowModel squared = flow_model(softmax_channel(), SgdLoss::squared, 2);
  const FlowModel entropy = flow_model(softmax_channel(), SgdLoss::cross_entropy, 2);
  // The other program printed this one rate with three decimals.
  constexpr double half_of_third_digit = 5e-4;
  EXPECT_NEAR(limit(squared, Student::direct), 13.642, half_of_third_digit);
  EXPECT_NEAR(limit(entropy, Student::direct), 6.4593, tolerance::half_of_fourth_digit);
  EXPECT_NEAR(limit(squared, Student::tied), 4.8233, tolerance::half_of_fourth_digit);
  EXPECT_NEAR(limit(entropy, Student::tied), 2.2837, tolerance::half_of_fourth_digit);
  const auto growth = [](const FlowModel& model) {
    return make_risk(model, Precision::fine, 1)->noise_growth().symmetric;
  };
  // It printed the growth with eight decimals.
  constexpr double half_of_eighth_digit = 5e-9;
  EXPECT_NEAR(growth(squared), .04877631, half_of_eighth_digit);
  EXPECT_NEAR(growth(entropy), .27134618, half_of_eighth_digit);
}

TEST(AimFlowStability, OfLinearLabelsDoesNotDependOnTheTokens) {
  for (const int tokens : {1, 2, 5}) {
    for (const double rho : {0.3, 1.0, 4.0}) {
      const FlowModel model = flow_model(linear_channel(), SgdLoss::squared, tokens, rho);
      EXPECT_NEAR(limit(model, Student::direct), 2.0, tolerance::dozens_of_roundings);
      EXPECT_NEAR(limit(model, Student::tied), 0.5 / std::sqrt(rho),
                  tolerance::dozens_of_roundings);
      EXPECT_NEAR(limit(model, Student::untied), 1.0 / std::sqrt(rho),
                  tolerance::dozens_of_roundings);
    }
  }
}

/// The power iteration written anew in another language; and the exact map of a direct student.
TEST(AimFlowStability, OfTokensEndsEarlierAtFiniteDimension) {
  const double limit = 0.5 / std::sqrt(0.5);
  constexpr double of_the_iteration = 1e-8;  // it ends at steps of 1e-10
  EXPECT_NEAR(limit * stable_share(Student::tied, 0.5, 80), .6042663410, of_the_iteration);
  EXPECT_NEAR(limit * stable_share(Student::tied, 0.5, 200), .6632025211, of_the_iteration);
  // Carried on from d = 200: the rest is 13/d up to a hundredth of it.
  constexpr double carried_on = 5e-4;
  EXPECT_NEAR(limit * stable_share(Student::tied, 0.5, 400), .6846544780, carried_on);
  EXPECT_DOUBLE_EQ(stable_share(Student::direct, 0.5, 20), 1.0 / (1.0 + 9.0 / 20 + 16.0 / 400));
}

TEST(AimFlowStability, HardmaxHasNoLimit) {
  const FlowModel model = flow_model(hardmax_channel(), SgdLoss::cross_entropy, 2);
  EXPECT_TRUE(std::isinf(limit(model, Student::tied)));
}

}  // namespace
}  // namespace onset::aim
