#include "numerics/solvers/ode.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stop_token>
#include <utility>

#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

/// The tolerance of a step, 1e-9 unless told otherwise, adds up over some hundreds of steps.
constexpr double of_the_ode = 1e-6;

OdeState logistic(const OdeState& x) {
  return {x[0] * (1.0 - x[0])};
}

OdeState rotation(const OdeState& x) {
  return {x[1], -x[0]};
}

OdeState square(const OdeState& x) {
  return {x[0] * x[0]};
}

TEST(SolveOde, FollowsTheLogisticCurveAndFindsItsEvent) {
  const auto half = [](const OdeState& x) { return x[0] - 0.5; };
  const double start = 1e-6;
  const auto solution = solve_ode(logistic, {start}, {5.0, 13.0, 30.0}, {}, {}, half);
  ASSERT_TRUE(solution.status.converged());
  ASSERT_EQ(solution.states.size(), 3u);
  for (const auto& [index, t] : {std::pair{0, 5.0}, {1, 13.0}, {2, 30.0}}) {
    const double exact = 1.0 / (1.0 + (1.0 / start - 1.0) * std::exp(-t));
    EXPECT_NEAR(solution.states[static_cast<std::size_t>(index)][0] / exact, 1.0, of_the_ode);
  }
  EXPECT_NEAR(solution.event_time.value(), std::log(1.0 / start - 1.0), of_the_ode);
}

TEST(SolveOde, ErrsByAboutItsTolerance) {
  constexpr double time = 6.0;
  double before = 1.0;
  for (const double tolerance : {1e-4, 1e-7, 1e-10}) {
    const auto solution =
        solve_ode(rotation, {0.0, 1.0}, {time},
                  {.relative_tolerance = tolerance, .absolute_tolerance = tolerance}, {});
    ASSERT_TRUE(solution.status.converged());
    const double error = std::abs(solution.states[0][0] - std::sin(time));
    // Every unit of time may have some steps that err by the whole tolerance.
    EXPECT_LT(error, 10.0 * time * tolerance);
    EXPECT_LT(error, before);
    before = error;
  }
}

TEST(SolveOde, HasTheFirstOfSeveralEvents) {
  const auto peak = [](const OdeState& x) { return x[0] - std::sqrt(0.75); };
  const auto solution = solve_ode(rotation, {0.0, 1.0}, {1.0, 20.0}, {}, {}, peak);
  EXPECT_NEAR(solution.event_time.value(), std::acos(-1.0) / 3.0, of_the_ode);
}

TEST(SolveOde, AnEventMayBeThereAtTheStartOrNever) {
  const auto above = [](double level) {
    return [level](const OdeState& x) { return x[0] - level; };
  };
  EXPECT_EQ(solve_ode(logistic, {0.5}, {1.0}, {}, {}, above(0.5)).event_time, 0.0);
  EXPECT_FALSE(solve_ode(logistic, {0.5}, {1.0}, {}, {}, above(2.0)).event_time);
}

TEST(SolveOde, KeepsWhatItReachedBeforeItRunsAway) {
  // x = 1/(1 - t) leaves every bound at t = 1.
  const auto solution = solve_ode(square, {1.0}, {0.5, 2.0}, {}, {});
  EXPECT_FALSE(solution.status.converged());
  ASSERT_EQ(solution.states.size(), 1u);
  EXPECT_NEAR(solution.states[0][0], 2.0, of_the_ode);
}

/// Decay that is defined next to 0 only, as a student's is while integrals reach it.
OdeState decay_near_zero(const OdeState& x) {
  constexpr double last = 2.0;
  return {std::abs(x[0]) <= last ? -x[0] : std::numeric_limits<double>::quiet_NaN()};
}

TEST(SolveOde, ShortensAStepIntoNonsense) {
  // The first step tried is a ten-thousandth of the last time, 10 here, and leaps far beyond 2.
  const auto solution = solve_ode(decay_near_zero, {1.0}, {1.0, 1e5}, {}, {});
  ASSERT_TRUE(solution.status.converged());
  EXPECT_NEAR(solution.states[0][0], std::exp(-1.0), of_the_ode);
  EXPECT_NEAR(solution.states[1][0], 0.0, of_the_ode);
}

TEST(SolveOde, EndsWhereEveryStepIsNonsense) {
  const auto outwards = [](const OdeState& x) {
    return OdeState{x[0] < 2.0 ? 1.0 : std::numeric_limits<double>::quiet_NaN()};
  };
  const auto solution = solve_ode(outwards, {1.0}, {0.5, 3.0}, {}, {});
  EXPECT_EQ(solution.status.reason, StopReason::diverged);
  ASSERT_EQ(solution.states.size(), 1u);
  EXPECT_NEAR(solution.states[0][0], 1.5, of_the_ode);
}

TEST(SolveOde, EndsUnfinishedWhenItsStepsAreUsedUp) {
  const auto solution = solve_ode(rotation, {0.0, 1.0}, {1000.0}, {.max_steps = 10}, {});
  EXPECT_EQ(solution.status.reason, StopReason::unfinished);
  EXPECT_EQ(solution.status.iterations, 10);
  EXPECT_TRUE(solution.states.empty());
}

TEST(SolveOde, ThrowsInterruptedWhenAskedToStop) {
  std::stop_source source;
  source.request_stop();
  const Context context{.stop = source.get_token()};
  EXPECT_THROW((void)solve_ode(rotation, {0.0, 1.0}, {1.0}, {}, context), Interrupted);
}

TEST(SolveOde, RefusesOptionsThatMeanNothing) {
  const auto solve = [](const OdeOptions& options) {
    (void)solve_ode(logistic, {0.5}, {1.0}, options, {});
  };
  EXPECT_THROW(solve({.relative_tolerance = 0.0}), InvalidArgument);
  EXPECT_THROW(solve({.absolute_tolerance = -1.0}), InvalidArgument);
  EXPECT_THROW(solve({.max_steps = 0}), InvalidArgument);
}

}  // namespace
}  // namespace onset::numerics
