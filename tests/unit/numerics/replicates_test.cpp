#include "onset/numerics/replicates.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

/// A share of 0.683 of 20000 sets is known to 0.0033: six of these, a false alarm in 5e8.
constexpr double six_deviations = 0.02;

TEST(Replicates, ReduceGivesTheMeanAndItsStandardError) {
  const Replicates values = {1.0, 2.0, 3.0, 4.0};
  const Estimate estimate = reduce(values);
  EXPECT_DOUBLE_EQ(estimate.value, 2.5);
  EXPECT_DOUBLE_EQ(estimate.error, std::sqrt(5.0 / 3.0 / 4.0));
  EXPECT_DOUBLE_EQ(mean(values), 2.5);
}

TEST(Replicates, ABiasBoundIsAddedInQuadrature) {
  const Replicates values = {-3.0, 3.0};
  EXPECT_DOUBLE_EQ(reduce(values, 4.0).error, 5.0);
  EXPECT_DOUBLE_EQ(reduce(Replicates{1.0, 1.0}, 0.5).error, 0.5);
}

TEST(Replicates, EqualValuesHaveNoError) {
  EXPECT_EQ(reduce(Replicates(16, 0.1)).value, 0.1);
  EXPECT_EQ(reduce(Replicates(16, 0.1)).error, 0.0);
}

TEST(Replicates, ValuesThatDifferByRoundingAloneHaveNoError) {
  const double unit = std::numeric_limits<double>::epsilon();
  const Replicates rounded = {0.7, 0.7 * (1.0 + unit), 0.7 * (1.0 - 2.0 * unit)};
  EXPECT_EQ(reduce(rounded).error, 0.0);
  EXPECT_EQ(reduce(rounded, 0.5).error, 0.5);
  EXPECT_GT(reduce(Replicates{0.7, 0.7 * (1.0 + 100.0 * unit)}).error, 0.0);
}

TEST(Replicates, FewerThanTwoValuesHaveNoStandardError) {
  EXPECT_THROW((void)reduce(Replicates{1.0}), InvalidArgument);
  EXPECT_THROW((void)reduce(Replicates{}), InvalidArgument);
  EXPECT_THROW((void)mean(Replicates{}), InvalidArgument);
}

TEST(Replicates, MapActsOnEveryReplicate) {
  EXPECT_EQ(map(Replicates{1.0, 4.0, 9.0}, [](double x) { return std::sqrt(x); }),
            (Replicates{1.0, 2.0, 3.0}));
}

TEST(MeanOverRuns, CoversTheMeanOfFewRunsAsOftenAsThatOfMany) {
  // 20000 sets: a share of 0.683 is known to 0.0033; six of these (a false alarm in 5e8).
  for (const std::size_t runs : {std::size_t{2}, std::size_t{4}, std::size_t{16}}) {
    Stream stream(3, "test runs", runs);
    std::vector<double> values(runs);
    int covered = 0;
    for (int set = 0; set < 20000; ++set) {
      stream.normal(values);
      const Estimate mean = mean_over_runs(values);
      covered += std::abs(mean.value) < mean.error ? 1 : 0;
    }
    EXPECT_NEAR(covered / 20000.0, 0.6827, six_deviations) << runs;
  }
}

/// How often one error covers the fraction p of so many trials: exactly, by summing over outcomes.
double coverage(std::int64_t trials, double p) {
  double covered = 0.0;
  for (std::int64_t hits = 0; hits <= trials; ++hits) {
    const Estimate fraction = binomial_fraction(hits, trials);
    if (std::abs(fraction.value - p) > fraction.error) continue;
    covered += boost::math::pdf(boost::math::binomial(static_cast<double>(trials), p),
                                static_cast<double>(hits));
  }
  return covered;
}

TEST(BinomialFraction, CoversAsOftenAsOneErrorShouldOnAverage) {
  constexpr double one_sigma = 0.6827;
  constexpr double discreteness = 0.06;  // what counts of four trials may add, and not take off
  for (const std::int64_t trials : {4, 8, 20, 100}) {
    double mean = 0.0;
    for (int k = 1; k < 200; ++k) mean += coverage(trials, k / 200.0) / 199.0;
    EXPECT_GE(mean, one_sigma - 1e-3) << trials;
    EXPECT_LE(mean, one_sigma + discreteness) << trials;
  }
}

TEST(BinomialFraction, HasAnErrorWhereAllTrialsAgree) {
  EXPECT_EQ(binomial_fraction(4, 4).value, 1.0);
  EXPECT_DOUBLE_EQ(binomial_fraction(0, 4).error, binomial_fraction(4, 4).error);
  EXPECT_GT(binomial_fraction(4, 4).error, 0.1);
  EXPECT_THROW((void)binomial_fraction(0, 0), InvalidArgument);
}

TEST(MeanOverRuns, OfOneRunIsNotKnown) {
  const Estimate one = mean_over_runs(std::vector<double>{0.3});
  EXPECT_EQ(one.value, 0.3);
  EXPECT_TRUE(std::isnan(one.error));
}

}  // namespace
}  // namespace onset::numerics
