#include "numerics/quadrature/gaussian_expectation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "numerics/simd/vector_math.hpp"
#include "onset/core/error.hpp"
#include "support/complaint.hpp"
#include "support/contexts.hpp"
#include "support/tolerances.hpp"

namespace onset::numerics {
namespace {

/// Of 300 intervals that cover 95 % the number that do has a deviation of 3.8; 20 is a false
/// alarm in about 1e6.
constexpr double five_deviations = 20;

using testing::with_threads;
using testing::wrong_option;

ExpectationOptions options_for(int dimensions, int outputs, std::size_t points = 1024) {
  ExpectationOptions options;
  options.dimensions = dimensions;
  options.outputs = outputs;
  options.points = points;
  return options;
}

// x^2, x y, exp(x + y), cos(x) of a pair (x, y): expectations 1, 0, e, exp(-1/2).
void closed_forms(const NormalBatch& batch, std::span<double> out) {
  for (std::size_t i = 0; i < batch.count; ++i) {
    const double x = batch.dimension(0)[i];
    const double y = batch.dimension(1)[i];
    out[i] = x * x;
    out[batch.count + i] = x * y;
    out[2 * batch.count + i] = std::exp(x + y);
    out[3 * batch.count + i] = std::cos(x);
  }
}

// exp(0.3 (x + y)) and the controls x, y, x^2 - 1, x y, two zeros and a copy of x.
void with_controls(const NormalBatch& batch, std::span<double> out) {
  for (std::size_t i = 0; i < batch.count; ++i) {
    const double x = batch.dimension(0)[i];
    const double y = batch.dimension(1)[i];
    const double values[] = {std::exp(0.3 * (x + y)), x, y, x * x - 1.0, x * y, 0.0, 0.0, x};
    for (std::size_t k = 0; k < 8; ++k) out[k * batch.count + i] = values[k];
  }
}

TEST(GaussianExpectation, AgreesWithClosedFormsWithinItsErrorBars) {
  const double expected[] = {1.0, 0.0, std::exp(1.0), std::exp(-0.5)};
  for (const std::size_t points : {16u, 1024u, 32768u}) {
    const auto result = gaussian_expectation(options_for(2, 4, points), closed_forms, Context());
    ASSERT_EQ(result.size(), 4u);
    for (std::size_t k = 0; k < 4; ++k) {
      ASSERT_EQ(result[k].size(), static_cast<std::size_t>(default_replicates));
      const Estimate estimate = reduce(result[k]);
      // Student t with 15 degrees of freedom exceeds 5 with odds of 1.6e-4.
      EXPECT_NEAR(estimate.value, expected[k], 5.0 * estimate.error) << points << " " << k;
    }
  }
}

TEST(GaussianExpectation, ErrorBarsCoverAtTheirNominalRate) {
  // 300 seeds; a t-interval of 15 degrees of freedom at 2.131 covers 95 %, so 285 of 300 with a
  // standard deviation of 3.8. Within 20 of that: odds of a false alarm about 1e-6 per fresh seed.
  int covered = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    ExpectationOptions options = options_for(2, 4, 64);
    options.seed = seed;
    const Estimate estimate = reduce(gaussian_expectation(options, closed_forms, Context())[3]);
    covered += std::fabs(estimate.value - std::exp(-0.5)) <= 2.131 * estimate.error ? 1 : 0;
  }
  EXPECT_NEAR(covered, 285, five_deviations);
}

TEST(GaussianExpectation, GivesTheSameBitsForAnyNumberOfThreads) {
  const ExpectationOptions plain = options_for(2, 4, 1 << 15);
  const ExpectationOptions controlled = options_for(2, 8, 1 << 15);
  const auto expected = gaussian_expectation(plain, closed_forms, with_threads(1));
  const auto expected_controlled =
      gaussian_expectation_with_controls(controlled, 1, with_controls, with_threads(1));
  for (const int threads : {2, 3, 8}) {
    EXPECT_EQ(gaussian_expectation(plain, closed_forms, with_threads(threads)), expected);
    const auto again =
        gaussian_expectation_with_controls(controlled, 1, with_controls, with_threads(threads));
    EXPECT_EQ(again.target, expected_controlled.target);
    EXPECT_EQ(again.coefficient, expected_controlled.coefficient);
  }
}

TEST(GaussianExpectation, CallsTheIntegrandWithBatchesOfTheDocumentedSize) {
  std::atomic<std::size_t> points = 0;
  const auto integrand = [&](const NormalBatch& batch, std::span<double> out) {
    EXPECT_EQ(batch.count, batch_size);
    EXPECT_EQ(batch.normals.size(), 3 * batch_size);
    EXPECT_EQ(batch.first % batch_size, 0u);
    EXPECT_EQ(out.size(), batch_size);
    std::fill(out.begin(), out.end(), 1.0);
    points += batch.count;
  };
  const auto result = gaussian_expectation(options_for(3, 1), integrand, with_threads(2));
  EXPECT_EQ(points, 1024u * default_replicates);
  EXPECT_EQ(result[0], Replicates(default_replicates, 1.0));
}

TEST(GaussianExpectation, ControlsReduceTheErrorAndKeepTheMean) {
  const double expected = std::exp(0.09);
  const ExpectationOptions options = options_for(2, 8, 256);
  const auto controlled =
      gaussian_expectation_with_controls(options, 1, with_controls, Context()).target;
  ASSERT_EQ(controlled.size(), 1u);
  const Estimate with = reduce(controlled[0]);
  const Estimate without = reduce(gaussian_expectation(options, with_controls, Context())[0]);
  EXPECT_LT(with.error, 0.5 * without.error);
  EXPECT_NEAR(with.value, expected, 5.0 * with.error);
  EXPECT_NEAR(without.value, expected, 5.0 * without.error);
}

TEST(GaussianExpectation, ATargetThatIsACombinationOfControlsIsExact) {
  const auto integrand = [](const NormalBatch& batch, std::span<double> out) {
    for (std::size_t i = 0; i < batch.count; ++i) {
      const double x = batch.dimension(0)[i];
      out[i] = 3.0 + 2.0 * x - 5.0 * (x * x - 1.0);
      out[batch.count + i] = x;
      out[2 * batch.count + i] = x * x - 1.0;
    }
  };
  const auto result =
      gaussian_expectation_with_controls(options_for(1, 3, 64), 1, integrand, Context());
  for (const double value : result.target[0])
    EXPECT_NEAR(value, 3.0, tolerance::hundreds_of_roundings);
  EXPECT_NEAR(result.coefficient[0][0], 2.0, tolerance::thousands_of_roundings);
  EXPECT_NEAR(result.coefficient[0][1], -5.0, tolerance::thousands_of_roundings);
}

TEST(GaussianExpectation, ATargetThatIsACombinationOfControlsIsExactWhateverTheSeed) {
  // A control whose mean lies two standard errors off 0, as one in twenty does, is used like any
  // other: given up by its own mean it would leave wrong values, and only those, inexact.
  const auto integrand = [](const NormalBatch& batch, std::span<double> out) {
    for (std::size_t i = 0; i < batch.count; ++i) {
      const double x = batch.dimension(0)[i];
      out[i] = 3.0 - 5.0 * (x * x - 1.0);
      out[batch.count + i] = x * x - 1.0;
    }
  };
  constexpr double rounding = 1e-13;  // of sums of 64 terms of size 10
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    ExpectationOptions options = options_for(1, 2, 64);
    options.seed = seed;
    const auto result = gaussian_expectation_with_controls(options, 1, integrand, Context());
    for (const double value : result.target[0]) ASSERT_NEAR(value, 3.0, rounding) << seed;
  }
}

TEST(GaussianExpectation, ABiasOfAControlMovesTheTargetByItsCoefficient) {
  // exp(0.3 x + 0.3 y) beside a control with a bias of 1, some 50 standard errors.
  const auto biased = [](const NormalBatch& batch, std::span<double> out) {
    for (std::size_t i = 0; i < batch.count; ++i) {
      const double x = batch.dimension(0)[i];
      const double y = batch.dimension(1)[i];
      out[i] = std::exp(0.3 * (x + y));
      out[batch.count + i] = 1.0 + x * x * x + y;
    }
  };
  const ExpectationOptions options = options_for(2, 2, 256);
  const auto controlled = gaussian_expectation_with_controls(options, 1, biased, Context());
  const Estimate with = reduce(controlled.target[0]);
  // Six standard errors of 15 degrees of freedom: a false alarm in 4e4; the seed is fixed.
  EXPECT_NEAR(with.value + controlled.coefficient[0][0], std::exp(0.09), 6.0 * with.error);
  EXPECT_GT(controlled.coefficient[0][0], 20.0 * with.error);
}

TEST(GaussianExpectation, AControlOfRoundingErrorsIsNone) {
  // Zero but for rounding, of one sign, where the target is large: a regression on it would take
  // away a part of the target.
  const auto integrand = [](const NormalBatch& batch, std::span<double> out) {
    for (std::size_t i = 0; i < batch.count; ++i) {
      const double x = batch.dimension(0)[i];
      out[i] = x * x;
      out[batch.count + i] = x * x > 1.0 ? 2e-16 : 0.0;
    }
  };
  const ExpectationOptions options = options_for(1, 2, 256);
  const auto controlled = gaussian_expectation_with_controls(options, 1, integrand, Context());
  EXPECT_EQ(controlled.coefficient[0][0], 0.0);
  const Estimate with = reduce(controlled.target[0]);
  EXPECT_NEAR(with.value, 1.0, 6.0 * with.error);
}

TEST(GaussianExpectation, ThrowsInterruptedWhenAskedToStop) {
  std::stop_source source;
  Context context = with_threads(2);
  context.stop = source.get_token();
  std::atomic<int> calls = 0;
  const auto integrand = [&](const NormalBatch&, std::span<double> out) {
    std::fill(out.begin(), out.end(), 0.0);
    if (++calls == 10) source.request_stop();
  };
  EXPECT_THROW((void)gaussian_expectation(options_for(1, 1, 1 << 20), integrand, context),
               Interrupted);
  EXPECT_LT(calls, 100);
}

TEST(ExpectationOptions, NameTheFieldThatIsWrong) {
  const auto field = [](auto change) { return wrong_option<ExpectationOptions>(change); };
  EXPECT_EQ(field([](auto&) {}), "none");
  EXPECT_EQ(field([](auto& o) { o.dimensions = 0; }), "dimensions");
  EXPECT_EQ(field([](auto& o) { o.dimensions = 193; }), "dimensions");
  EXPECT_EQ(field([](auto& o) { o.outputs = 0; }), "outputs");
  EXPECT_EQ(field([](auto& o) { o.points = 1000; }), "points");
  EXPECT_EQ(field([](auto& o) { o.points = 0; }), "points");
  EXPECT_EQ(field([](auto& o) { o.replicates = 0; }), "replicates");
  EXPECT_THROW(
      (void)gaussian_expectation_with_controls(options_for(1, 2), 3, closed_forms, Context()),
      InvalidArgument);
}

}  // namespace
}  // namespace onset::numerics
