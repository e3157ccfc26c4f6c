#include "ssi/learners/gain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "onset/ssi/limits/flow.hpp"
#include "support/ssi_models.hpp"
#include "support/tolerances.hpp"

namespace onset::ssi {
namespace {

/// The tolerance of the paths whose ratio it is.
constexpr double of_the_ode = 1e-6;
/// The gain at a rate of 1e-3 is off its limit by some percent.
constexpr double linear_in_the_rate = 0.2;

using testing::with_student;

TEST(LongSsiGain, IsTheNumberOfTokensAtEqualRates) {
  GainOptions options;
  options.sgd.dim = 500;
  options.sgd.rate = 0.1;
  options.sgd.level = 0.3;
  options.sgd.runs = 64;
  options.sgd.steps = 0;
  options.sgd.start = Start::overlapped;
  const MeasuredGain gain =
      untied_over_tied(with_student("H2sum", 3, "tied", SampleLoss::squared), options, {});
  ASSERT_TRUE(gain.gain && gain.gain_ode);
  EXPECT_NEAR(gain.gain_ode->value, 3.0, of_the_ode);
  EXPECT_NEAR(gain.gain->value, 3.0, 6 * gain.gain->error + 0.3) << "finite d shifts it a little";
}

/// Two runs of ten steps: only the flow is of interest.
GainOptions of_the_flow(RatePolicy policy, double rate) {
  GainOptions options;
  options.sgd.dim = 500;
  options.sgd.level = 0.3;
  options.sgd.start = Start::overlapped;
  options.sgd.rate = rate;
  options.sgd.runs = 2;
  options.sgd.steps = 10;
  options.policy = policy;
  return options;
}

TEST(SsiGain, IsTheSquareOfTheTokensAtRatesThatGrowWithThem) {
  const SequenceModel model = with_student("H2sum", 3, "tied", SampleLoss::squared);
  const MeasuredGain gain = untied_over_tied(model, of_the_flow(RatePolicy::linear, 1e-3), {});
  EXPECT_NEAR(gain.rate_tied, 3e-3, tolerance::hundreds_of_roundings);
  ASSERT_TRUE(gain.gain_ode);
  EXPECT_NEAR(gain.gain_ode->value, 9.0, linear_in_the_rate) << "L^2 as the rate goes to 0";
  EXPECT_FALSE(gain.complete);
  EXPECT_FALSE(gain.gain) << "ten steps are too few";
}

// Small overlaps of this target grow at the rate 4 c2 - eta (L + 1), c2 = 1/(2 sqrt(pi)).
TEST(SsiGain, TheBestRateIsHalfOfTheLargest) {
  const SequenceModel model = with_student("H2sum", 3, "tied", SampleLoss::squared);
  const GainOptions options = of_the_flow(RatePolicy::optimal, 0.1);
  const MeasuredGain gain = untied_over_tied(model, options, {});
  const double largest = 4.0 * 0.5 * std::numbers::inv_sqrtpi / 4.0;
  const Estimate found = *max_rate(FlowField(model, 1.0, options.sgd.seed, {})).rate;
  EXPECT_NEAR(gain.rate_tied, 0.5 * largest, 0.5 * 6.0 * found.error);
  EXPECT_EQ(gain.rate_untied, gain.rate_tied);
  ASSERT_TRUE(gain.gain_ode);
  EXPECT_EQ(gain.gain_ode->value, 3.0);
}

// The mean of all runs, their ratio, and its error by the usual rule for ratios.
TEST(SsiGain, ComparesMeanPassages) {
  GainOptions options = of_the_flow(RatePolicy::equal, 0.1);
  options.sgd.dim = 100;
  options.sgd.runs = 32;
  options.sgd.steps = 0;
  const MeasuredGain gain =
      untied_over_tied(with_student("H2sum", 2, "tied", SampleLoss::squared), options, {});
  ASSERT_TRUE(gain.complete && gain.gain);
  const Estimate& a = *gain.steps_untied;
  const Estimate& b = *gain.steps_tied;
  EXPECT_NEAR(gain.gain->value, a.value / b.value, tolerance::hundreds_of_roundings);
  EXPECT_NEAR(gain.gain->error,
              a.value / b.value * std::hypot(a.error / a.value, b.error / b.value),
              tolerance::hundreds_of_roundings);
  EXPECT_GT(gain.gain->value, 1.0);
}

}  // namespace
}  // namespace onset::ssi
