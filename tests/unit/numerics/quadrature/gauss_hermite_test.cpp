#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "onset/core/error.hpp"
#include "onset/numerics/quadrature.hpp"
#include "support/tolerances.hpp"

namespace onset::numerics {
namespace {

/// The sum of weights of order one, rounded once at the end.
constexpr double rounding_of_the_rule = 2e-15;

// Accumulated in long double: moments of high degree exceed the range of a double's square.
template <class Function>
long double integrate(const Rule& rule, const Function& f) {
  long double sum = 0.0L;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    sum += static_cast<long double>(rule.weights[i]) * f(static_cast<long double>(rule.nodes[i]));
  }
  return sum;
}

TEST(GaussHermite, MatchesTheKnownSmallRules) {
  const Rule one = gauss_hermite(1);
  EXPECT_EQ(one.nodes, std::vector<double>{0.0});
  EXPECT_EQ(one.weights, std::vector<double>{1.0});
  const Rule two = gauss_hermite(2);
  EXPECT_EQ(two.nodes, (std::vector<double>{-1.0, 1.0}));
  EXPECT_EQ(two.weights, (std::vector<double>{0.5, 0.5}));
  const Rule three = gauss_hermite(3);
  EXPECT_DOUBLE_EQ(three.nodes[2], std::sqrt(3.0));
  EXPECT_EQ(three.nodes[1], 0.0);
  EXPECT_DOUBLE_EQ(three.weights[0], 1.0 / 6.0);
  EXPECT_DOUBLE_EQ(three.weights[1], 2.0 / 3.0);
  const Rule four = gauss_hermite(4);
  EXPECT_DOUBLE_EQ(four.nodes[2], std::sqrt(3.0 - std::sqrt(6.0)));
  EXPECT_DOUBLE_EQ(four.nodes[3], std::sqrt(3.0 + std::sqrt(6.0)));
  EXPECT_DOUBLE_EQ(four.weights[2], (3.0 + std::sqrt(6.0)) / 12.0);
  EXPECT_DOUBLE_EQ(four.weights[3], (3.0 - std::sqrt(6.0)) / 12.0);
}

TEST(GaussHermite, IsExactForPolynomialsUpToItsDegree) {
  for (const int n : {1, 2, 3, 5, 64, 101, 256, 1024}) {
    const Rule rule = gauss_hermite(n);
    long double expected = 1.0L;  // (2k - 1)!!
    for (int k = 0; k <= std::min(n - 1, 250); ++k) {
      const long double moment = integrate(rule, [k](long double x) { return std::pow(x, 2 * k); });
      // A node's rounding, 2^-53, counts 2k times.
      EXPECT_NEAR(static_cast<double>(moment / expected), 1.0, 1e-15 * (3 + 2 * k))
          << n << " nodes, degree " << 2 * k;
      expected *= 2 * k + 1;
    }
  }
}

TEST(GaussHermite, OneDegreeMoreIsWrongByTheKnownAmount) {
  // The error of x^(2n) is n!.
  const double moment = static_cast<double>(
      integrate(gauss_hermite(3), [](long double x) { return std::pow(x, 6); }));
  EXPECT_NEAR(moment, 15.0 - 6.0, tolerance::hundreds_of_roundings);
}

TEST(GaussHermite, IsSymmetricToTheLastBitAndAscending) {
  for (const int n : {2, 3, 64, 255, 1024}) {
    const Rule rule = gauss_hermite(n);
    for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
      const std::size_t mirror = rule.nodes.size() - 1 - i;
      EXPECT_EQ(rule.nodes[i], -rule.nodes[mirror]);
      EXPECT_EQ(rule.weights[i], rule.weights[mirror]);
    }
    EXPECT_TRUE(std::is_sorted(rule.nodes.begin(), rule.nodes.end()));
  }
}

TEST(GaussHermite, IntegratesCosinesOfAnyModerateFrequency) {
  for (const int n : {64, 256, 1024}) {
    const Rule rule = gauss_hermite(n);
    for (const int k : {0, 1, 2, 4, 6}) {
      const double value = static_cast<double>(integrate(
          rule, [k](long double x) { return std::cos(static_cast<long double>(k) * x); }));
      EXPECT_NEAR(value, std::exp(-0.5 * k * k), rounding_of_the_rule)
          << n << " nodes, frequency " << k;
    }
  }
}

TEST(GaussHermite, FarWeightsAreAccurateInTheRelativeSense) {
  // Shifting the normal by t moves the mass of exp(t x - t^2/2) to the nodes around t, whose plain
  // weights are as small as exp(-t^2/2): the integral is 1 only if those are right.
  const Rule rule = gauss_hermite(1024);
  for (const int t : {5, 10, 20, 30}) {
    const long double shift = t;
    const double value = static_cast<double>(integrate(
        rule, [shift](long double x) { return std::exp(shift * x - shift * shift / 2.0L); }));
    EXPECT_NEAR(value, 1.0, 1e-14 * t) << t;
  }
}

TEST(GaussHermite, RefusesSizesOutOfRange) {
  EXPECT_THROW((void)gauss_hermite(0), InvalidArgument);
  EXPECT_THROW((void)gauss_hermite(1025), InvalidArgument);
}

}  // namespace
}  // namespace onset::numerics
