#include "ssi/learners/gain.hpp"

#include <gtest/gtest.h>

#include <vector>

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
  options.policy = RatePolicy::linear;
  options.sgd.rate = 1e-3;
  options.sgd.runs = 2;
  options.sgd.steps = 10;
  const MeasuredGain linear =
      untied_over_tied(with_student("H2sum", 3, "tied", SampleLoss::squared), options, {});
  EXPECT_NEAR(linear.gain_ode->value, 9.0, linear_in_the_rate) << "L^2 as the rate goes to 0";
  EXPECT_FALSE(linear.complete);
  EXPECT_FALSE(linear.gain) << "ten steps are too few";
}

}  // namespace
}  // namespace onset::ssi
