#include "aim/learners/amp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <vector>

#include "aim/learners/adaptive_damping.hpp"
#include "aim/limits/curve.hpp"
#include "aim/limits/spectrum.hpp"
#include "onset/numerics/replicates.hpp"
#include "support/scale.hpp"
#include "support/tolerances.hpp"
#include "unit/aim/learners/plain_message_passing.hpp"
#include "unit/aim/problem.hpp"

namespace onset::aim {
namespace {

/// At a fixed point the length is that of the prior up to the order 1/d^2 = 6e-4.
constexpr double length_at_this_dimension = 1e-3;
/// The tolerance of the run, 1e-2, and a hundredth of it for the last half step.
constexpr double tolerance_of_the_run = 1.01e-2;
/// At d = 200 the error is off its limit by about 1/d and scatters as much; ten of these.
constexpr double chance_at_200_dimensions = 0.05;

/// What the header says of runs in single precision.
constexpr double rounding_of_mse = 1e-4;

TEST(AimDamping, GrowsWhileStepsTurnBackAndEasesWhenTheyDoNot) {
  AdaptiveDamping damping(0.5, 1);
  damping.observe({1.0, 1.0, 1.0, 1.0, 1.0});
  EXPECT_EQ(damping(), 0.5);  // never below its start
  damping.observe({1.0, 1.0, -1.0, 1.0, 2.0});
  EXPECT_EQ(damping(), 0.5);  // V is still on its way
  damping.observe({0.5, 1.0, -0.7, 1.0, 1.0});
  EXPECT_EQ(damping(), 0.5);  // an oscillation that dies out by itself
  damping.observe({1.0, 1.0, -1.0, 1.0, 1.0});
  EXPECT_EQ(damping(), 0.75);
  damping.observe({1.0, 1.0, 0.9, 1.0, 1.0});
  EXPECT_NEAR(damping(), 1.0 - 1.1 * 0.25, tolerance::few_roundings);
  AdaptiveDamping patient(0.5, 2);
  patient.observe({1.0, 1.0, -1.0, 1.0, 1.0});
  EXPECT_EQ(patient(), 0.5);
  patient.observe({1.0, 1.0, -1.0, 1.0, 1.0});
  EXPECT_EQ(patient(), 0.75);
  AdaptiveDamping none(0.0, 1);
  none.observe({1.0, 1.0, -1.0, 1.0, 1.0});
  EXPECT_EQ(none(), 0.0);
}

AmpRun run_on(const AttentionIndexed& model, const Problem& p, const AmpOptions& options,
              const Context& context = {}) {
  return approximate_message_passing(model, p.data, p.teacher.matrix, options, context);
}

/// A run where state evolution leaves no error.
AmpRun run_above_recovery(const AttentionIndexed& model, std::size_t dim, double alpha) {
  AmpOptions options;
  options.settles = false;
  return run_on(model, draw(model, dim, alpha), options);
}

TEST(AimAmp, IsTheAlgorithmWrittenOutWithAMatrixForEveryScore) {
  auto noisy = model_of("linear", 2);
  noisy.noise_variance = 0.3;
  noisy.noise_kind = NoiseKind::equal;
  for (const auto& model : {model_of("softmax", 3), model_of("linear", 3), model_of("hardmax", 2),
                            model_of("hardmax", 3), noisy}) {
    const Problem p = draw(model, 10, 0.3);
    PlainMessagePassing plain(model, p.data);
    AmpOptions options;
    options.single = false;
    for (int iterations = 1; iterations <= 3; ++iterations) {
      options.max_iterations = iterations;
      const auto estimate = approximate_message_passing(model, p.data, {}, options, {}).estimate;
      EXPECT_LT(squared_distance(estimate, plain.iterate(), 10), 1e-20) << iterations;
    }
  }
}

TEST(AimAmp, SinglePrecisionChangesTheErrorByMuchLessThanTheTolerance) {
  // The tolerance leaves mse within 1e-3 of itself. On the way to exact recovery the precision
  // changes, and the estimate gets as close as with double precision throughout.
  for (const auto& model : {model_of("softmax", 2), model_of("softmax", 3), model_of("linear", 2),
                            model_of("hardmax", 2)}) {
    for (const double alpha : {0.05, 0.1}) {
      const Problem p = draw(model, 60, alpha);
      AmpOptions options;
      const AmpRun single = run_on(model, p, options);
      options.single = false;
      const AmpRun twice = run_on(model, p, options);
      EXPECT_EQ(single.status.reason, twice.status.reason);
      EXPECT_NE(single.estimate, twice.estimate);
      EXPECT_NEAR(single.steps.back().mse / twice.steps.back().mse, 1.0, rounding_of_mse) << alpha;
    }
  }
}

TEST(AimAmp, CloseToExactRecoveryThePrecisionIsDouble) {
  const auto model = model_of("linear", 2);
  const AmpRun run = run_above_recovery(model, 40, 0.5);
  EXPECT_TRUE(run.status.converged());
  EXPECT_LT(run.steps.back().mse, min_single_variance);
}

TEST(AimAmp, HardmaxEstimatesHaveTheLengthThatThePriorKnows) {
  const auto model = model_of("hardmax", 2);
  const Problem p = draw(model, 40, 0.5);
  AmpOptions options;
  options.tolerance = 1e-8;
  const AmpRun run = run_on(model, p, options);
  ASSERT_TRUE(run.status.converged());
  const AmpStep& last = run.steps.back();
  EXPECT_NEAR(last.self_overlap, 1.5 + 1.0 / 40.0 - last.variance, length_at_this_dimension);
}

TEST(AimAmp, EndsAtTheSameFixedPointWhateverTheDamping) {
  // Few samples: with a damping of 1/2 that does not grow, this one turns back and forth for good.
  const auto model = model_of("softmax", 2);
  const Problem p = draw(model, 60, 0.1);
  AmpOptions options;
  options.tolerance = 1e-5;  // of steps, squared; what is left may be ten steps
  const AmpRun one = run_on(model, p, options);
  options.damping = 0.7;
  const AmpRun other = run_on(model, p, options);
  EXPECT_TRUE(one.status.converged());
  EXPECT_TRUE(other.status.converged());
  EXPECT_LT(squared_distance(one.estimate, other.estimate, 60), 1e-3 * one.steps.back().variance);
}

TEST(AimAmp, StrongDampingMakesShortStepsButNoEarlyEnd) {
  const auto model = model_of("softmax", 2);
  const Problem p = draw(model, 60, 0.1);
  AmpOptions options;
  options.tolerance = 1e-7;
  const AmpRun there = run_on(model, p, options);
  options.tolerance = 1e-3;
  options.damping = 0.95;
  const AmpRun slow = run_on(model, p, options);
  ASSERT_TRUE(there.status.converged() && slow.status.converged());
  EXPECT_LT(squared_distance(there.estimate, slow.estimate, 60),
            0.02 * there.steps.back().variance);
}

TEST(AimAmp, EndsOnlyWhenTheVarianceHasArrivedToo) {
  // With such a tolerance the estimate is there long before the variance, which moves more slowly.
  AmpOptions options;
  options.tolerance = 1e-2;
  const auto model = model_of("softmax", 2);
  for (const double alpha : {0.05, 0.1, 0.13}) {
    const AmpRun run = run_on(model, draw(model, 60, alpha), options);
    ASSERT_TRUE(run.status.converged());
    const std::size_t count = run.steps.size();
    double asked = 0.0;
    for (const AmpStep& step : {run.steps[count - 2], run.steps[count - 1]}) {
      asked += 0.5 * NoisySpectrum(model.rho, 1.0 / step.conjugate).mmse().value;
    }
    EXPECT_NEAR(run.steps.back().variance / asked, 1.0, tolerance_of_the_run) << alpha;
  }
}

TEST(AimAmp, AFewSamplesInManyDimensionsDoNotExplode) {
  // alpha d = 6: single samples stand out of the noise [aim 34]. At the full outliers the first
  // estimate is half again too long, the more so the larger d is.
  const auto model = model_of("softmax", 2);
  const Problem p = draw(model, 200, 0.03);
  AmpOptions options;
  options.max_iterations = 40;
  const AmpRun run = run_on(model, p, options);
  ASSERT_TRUE(run.status.converged());
  const double overlap = StateEvolution(model, 1, {}).at(0.03).overlap.value;
  EXPECT_LT(run.steps.front().self_overlap, 1.1 * overlap);
  EXPECT_NEAR(run.steps.back().mse, 1.5 - overlap, chance_at_200_dimensions);
}

TEST(AimAmp, ASecondAttemptThatIsNotFinishedIsGiven) {
  // The first one is diverged by decree after a few iterations; the second, with other damping, is
  // still above that variance at the end.
  const auto model = model_of("softmax", 2);
  const Problem p = draw(model, 30, 0.13);
  AmpOptions options;
  options.max_iterations = 8;
  options.tolerance = 1e-12;
  AmpOptions free = options;
  const AmpRun fast = run_on(model, p, free);
  free.damping = 0.8;
  const AmpRun slow = run_on(model, p, free);
  const double between = 0.5 * (fast.steps.back().variance + slow.steps.back().variance);
  ASSERT_LT(fast.steps.back().variance, between);
  options.min_variance = between;
  const AmpRun run = run_on(model, p, options);
  EXPECT_EQ(run.status.reason, StopReason::unfinished);
  EXPECT_EQ(run.estimate, slow.estimate);
  EXPECT_EQ(run.steps.size(), 8U);
}

TEST(AimAmp, FarAbovePerfectRecoveryADivergedRunIsTriedWithoutDamping) {
  const auto model = model_of("linear", 2);
  const AmpRun run = run_above_recovery(model, 30, 1.0);  // threshold 0.125
  EXPECT_TRUE(run.status.converged());
  EXPECT_LT(run.steps.back().mse, 1e-5);
}

TEST(AimAmp, IsTheSameForAnyNumberOfThreads) {
  const auto model = model_of("softmax", 2);
  const Problem p = draw(model, 40, 0.2);
  AmpOptions options;
  options.max_iterations = 5;
  Context three;
  three.threads = 3;
  const AmpRun first = run_on(model, p, options);
  const AmpRun second = run_on(model, p, options, three);
  EXPECT_EQ(first.estimate, second.estimate);
}

TEST(AimAmp, CollapseIsReportedAsDivergence) {
  // Without damping, few samples: the variance falls far below any possible error.
  const auto model = model_of("softmax", 2);
  const Problem p = draw(model, 40, 0.1);
  AmpOptions options;
  options.damping = 0.0;
  options.norm_aware = false;
  options.min_variance = 0.3 * 0.392;
  const AmpRun run = run_on(model, p, options);
  EXPECT_EQ(run.status.reason, StopReason::diverged);
  EXPECT_FALSE(run.steps.empty());
}

/// Error of an AMP run over theory's, and the same of its gap to the algorithm's own variance.
struct RelativeErrors {
  std::vector<double> mse;
  std::vector<double> gap;
};

RelativeErrors relative_errors(const AttentionIndexed& model, double alpha, std::uint64_t runs) {
  const double theory = StateEvolution(model, 1, {}).at(alpha).mmse.value;
  AmpOptions options;
  options.min_variance = 0.3 * theory;
  RelativeErrors out;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const Problem p = draw(model, 100, alpha, run);
    const AmpRun amp = run_on(model, p, options);
    EXPECT_NE(amp.status.reason, StopReason::diverged);
    out.mse.push_back(amp.steps.back().mse / theory);
    out.gap.push_back((amp.steps.back().mse - amp.steps.back().variance) / theory);
  }
  return out;
}

/// Standard error of a group's mean, from the scatter within all groups together.
double pooled_error(const std::vector<std::vector<double>>& groups) {
  double sum = 0.0;
  for (const auto& group : groups) sum += std::pow(numerics::reduce(group).error, 2);
  return std::sqrt(sum / static_cast<double>(groups.size()));
}

/// Small sizes deviate systematically by some percent: 10 % are allowed, and as many standard
/// errors as Student's law exceeds once in a million (6.9 at 20 degrees of freedom: four cases of
/// six runs). Relative scatter is much the same in all cases, so that it is pooled.
TEST(LongAimAmp, AgreesWithStateEvolution) {
  const auto runs = static_cast<std::uint64_t>(std::max(4, testing::scaled(6)));
  std::vector<std::vector<double>> errors;
  std::vector<std::vector<double>> gaps;
  const auto add = [&](const char* channel, int tokens, double alpha) {
    const RelativeErrors found = relative_errors(model_of(channel, tokens), alpha, runs);
    errors.push_back(found.mse);
    gaps.push_back(found.gap);
  };
  add("softmax", 2, 0.12);
  add("softmax", 3, 0.05);
  add("hardmax", 2, 0.4);
  add("linear", 2, 0.08);
  const boost::math::students_t law(static_cast<double>(errors.size() * (runs - 1)));
  const double factor = boost::math::quantile(complement(law, 0.5e-6));
  for (std::size_t i = 0; i < errors.size(); ++i) {
    EXPECT_NEAR(numerics::mean(errors[i]), 1.0, 0.1 + factor * pooled_error(errors)) << i;
    // Nishimori
    EXPECT_NEAR(numerics::mean(gaps[i]), 0.0, 0.1 + factor * pooled_error(gaps)) << i;
  }
}

TEST(LongAimAmp, RecoversTheMatrixAbovePerfectRecovery) {
  const auto model = model_of("softmax", 3);
  const AmpRun run = run_above_recovery(model, 60, 0.2);  // threshold 0.075
  EXPECT_LT(run.steps.back().mse, 1e-4);
}

}  // namespace
}  // namespace onset::aim
