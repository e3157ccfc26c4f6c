#include "aim/limits/flow/solution.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stop_token>
#include <vector>

#include "onset/core/error.hpp"
#include "support/contexts.hpp"
#include "unit/aim/limits/flow/flow_models.hpp"

namespace onset::aim {
namespace {

/// Errors have 15 degrees of freedom: Student's t beyond 8 has odds of 1e-6.
constexpr double far_out = 8.0;

double mse_of(const FlowSolution& solution, std::size_t i) {
  return solution.students[i][FlowNumber::mse].value;
}

TEST(AimFlowSolution, ErrorsOfTwoTokensAreBelowOneInABillion) {
  FlowModel model = flow_model(softmax_channel(), SgdLoss::squared, 2);
  model.width_ratio = 0.75;
  model.scale = 0.4;
  const FlowSolution solution = solve_flow(model, {0.4, 3.0}, {}, {});
  const std::vector<double> expected{.80296423294, .03518148870};
  // The expected numbers have eleven decimals, and this is a unit of the last.
  constexpr double eleventh_digit = 1e-11;
  for (std::size_t i = 0; i < 2; ++i) {
    const Estimate mse = solution.students[i][FlowNumber::mse];
    EXPECT_GT(mse.error, 0.0);
    EXPECT_LT(mse.error, 1e-9);
    EXPECT_NEAR(mse.value, expected[i], eleventh_digit);
  }
}

TEST(AimFlowSolution, ThreeTokensWithASquaredLossAreGoodToOneInAMillion) {
  FlowModel model = flow_model(softmax_channel(), SgdLoss::squared, 3);
  model.scale = 0.3;
  const FlowSolution solution = solve_flow(model, {0.2}, {}, testing::with_threads(2));
  EXPECT_LT(solution.students[0][FlowNumber::mse].error, 1e-6);
  EXPECT_GT(solution.students[0][FlowNumber::mse].error, 0.0);
}

/// The noise of SGD at a finite rate, over the flow without it, in per cent, as a program with
/// matrices of size 400 found it: 13.5(4) and 21.0(3).
TEST(AimFlowSolution, NoiseOfSgdRaisesTheErrorAsAnotherProgramFound) {
  FlowModel model = flow_model(softmax_channel(), SgdLoss::cross_entropy, 2, 1.0);
  model.width_ratio = 0.5;
  model.scale = 0.5;
  model.decay = 0.1;
  const std::vector<double> times{0.8, 1.6};
  const FlowSolution quiet = solve_flow(model, times, {}, {});
  model.rate = 0.4;
  FlowOptions options;
  options.size = 48;
  options.draws = 32;
  const FlowSolution noisy = solve_flow(model, times, options, testing::with_threads(2));
  const std::vector<Estimate> expected{{13.5, 0.4}, {21.0, 0.3}};
  for (std::size_t i = 0; i < 2; ++i) {
    const double base = mse_of(quiet, i);
    const double excess = 100.0 * (mse_of(noisy, i) / base - 1.0);
    const double error = 100.0 * noisy.students[i][FlowNumber::mse].error / base;
    EXPECT_NEAR(excess, expected[i].value, far_out * std::hypot(error, expected[i].error));
    EXPECT_LT(error, 0.25 * expected[i].value);
  }
}

/// The first slopes of the noise follow from Ito's formula: 8 ep v (2 t^2 + p), 4 ep v t sqrt(rho)
/// and 4 ep v t.
TEST(AimFlowSolution, FirstSlopesOfTheNoiseAreThoseOfItosFormula) {
  FlowModel model = flow_model(linear_channel(), SgdLoss::squared, 1, 0.5);
  model.width_ratio = 1.5;
  model.scale = 0.4;
  constexpr double time = 2e-3;
  const FlowSolution quiet = solve_flow(model, {time}, {}, {});
  model.rate = 0.4;
  FlowOptions options;
  options.size = 128;
  options.draws = 48;
  const FlowSolution noisy = solve_flow(model, {time}, options, testing::with_threads(2));
  const double t = model.scale * std::sqrt(model.width_ratio);
  const double p = model.scale * model.scale * (1.0 + model.width_ratio);
  const double q = t * std::sqrt(0.5);
  const double v = 2.0 * (p - 2.0 * q + 1.5);
  const auto slope = [&](FlowNumber which) {
    return Estimate{(noisy.students[0][which].value - quiet.students[0][which].value) / time,
                    noisy.students[0][which].error / time};
  };
  const auto expect = [&](FlowNumber which, double expected) {
    const Estimate found = slope(which);
    constexpr double next_order = 0.05;  // relative: the slope changes by 8 c lambda time
    EXPECT_NEAR(found.value, expected, far_out * found.error + next_order * expected);
    EXPECT_LT(found.error, 0.3 * expected);
  };
  expect(FlowNumber::p, 8.0 * model.rate * v * (2.0 * t * t + p));
  expect(FlowNumber::q, 4.0 * model.rate * v * t * std::sqrt(0.5));
  expect(FlowNumber::trace, 4.0 * model.rate * v * t);
}

/// An untied student from a gaussian start: SGD at d = 200 had a symmetric error of 1.0391(29) at
/// time 1 and 0.4314(20) at 2.5, and its antisymmetric part 0.033 and 0.030.
TEST(AimFlowSolution, UntiedStudentsDoAsSgdDid) {
  FlowModel model = flow_model(softmax_channel(), SgdLoss::squared, 2);
  model.student = Student::untied;
  model.scale = 0.3;
  FlowOptions options;
  options.size = 48;
  const FlowSolution solution = solve_flow(model, {1.0, 2.5}, options, testing::with_threads(2));
  const std::vector<Estimate> expected{{1.0391, 0.0029}, {.4314, .0020}};
  const std::vector<double> odd{.033, .030};
  for (std::size_t i = 0; i < 2; ++i) {
    const Estimate mse = solution.students[i][FlowNumber::mse];
    const Estimate anti = solution.students[i][FlowNumber::anti];
    const double finite = 0.01 * expected[i].value;  // of d = 200
    EXPECT_NEAR(mse.value - anti.value, expected[i].value,
                far_out * std::hypot(mse.error, anti.error, expected[i].error) + finite);
    EXPECT_NEAR(anti.value, odd[i], far_out * anti.error + 5e-4);
  }
}

TEST(AimFlowSolution, SmallUntiedStartsFollowATiedStudentAtHalfItsSpeed) {
  FlowModel model = flow_model(softmax_channel(), SgdLoss::squared, 2);
  model.student = Student::untied;
  model.scale = 1e-3;
  FlowOptions options;
  options.size = 32;
  const FlowSolution untied = solve_flow(model, {3.0}, options, testing::with_threads(2));
  model.student = Student::tied;
  model.scale = 5e-4;
  const FlowSolution tied = solve_flow(model, {1.5}, options, {});
  // The two agree for vanishing starts, and one of scale 1e-3 in matrices of size 32 errs by less.
  constexpr double finite_start = 0.01;
  EXPECT_NEAR(mse_of(untied, 0) / mse_of(tied, 0), 1.0, finite_start);
}

TEST(AimFlowSolution, InterruptsTakeEffect) {
  std::stop_source source;
  source.request_stop();
  Context context;
  context.stop = source.get_token();
  FlowModel model = flow_model(softmax_channel(), SgdLoss::squared, 3);
  EXPECT_THROW((void)solve_flow(model, {1.0}, {}, context), Interrupted);
  model = flow_model(softmax_channel(), SgdLoss::squared, 2);
  model.student = Student::untied;
  EXPECT_THROW((void)solve_flow(model, {1.0}, {}, context), Interrupted);
}

TEST(AimFlowSolution, DoesNotDependOnTheThreads) {
  FlowModel model = flow_model(softmax_channel(), SgdLoss::cross_entropy, 2);
  model.rate = 0.2;
  FlowOptions options;
  options.size = 16;
  options.draws = 3;
  const FlowSolution one = solve_flow(model, {0.1, 0.2}, options, testing::with_threads(1));
  const FlowSolution three = solve_flow(model, {0.1, 0.2}, options, testing::with_threads(3));
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t k = 0; k < flow_number_count; ++k) {
      const Estimate a = one.students[i].values[k];
      const Estimate b = three.students[i].values[k];
      if (std::isnan(a.value)) continue;
      EXPECT_EQ(a.value, b.value);
      EXPECT_EQ(a.error, b.error);
    }
  }
}

}  // namespace
}  // namespace onset::aim
