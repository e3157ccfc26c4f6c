#include "numerics/solvers/roots.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "onset/core/error.hpp"
#include "support/complaint.hpp"
#include "support/tolerances.hpp"

namespace onset::numerics {
namespace {

/// The tolerance of the call, 1e-2 of a root of order one, and a fifth for its size.
constexpr double rough_root = 1.2e-2;
/// The ratio is 100 up to the next order in the scatter, of relative size 0.1, on both sides.
constexpr double a_fifth = 20.0;
/// Rows are carried along a straight line; what is left is half the curvature times a squared
/// scatter of 0.01.
constexpr double second_order_in_the_scatter = 5e-5;
/// A slope between two points near the root is off by half the curvature times their distance.
constexpr double slope_between_two_ends = 1e-3;
/// The slope at the root times the tolerance of the call, 1e-9, and room for the last step.
constexpr double residual_of_the_tolerance = 1e-8;
/// The same slope where the points are ten times as far apart.
constexpr double slope_of_a_rough_root = 1e-2;
/// The tolerance of the call.
constexpr double tolerance_of_the_root = 1e-8;

using testing::wrong_field;

TEST(BracketedRoot, FindsTheRootsOfKnownFunctions) {
  struct Case {
    std::function<double(double)> f;
    double low;
    double high;
    double root;
  };
  const std::vector<Case> cases = {
      {[](double x) { return std::cos(x) - x; }, 0.0, 1.0, 0.73908513321516064},
      {[](double x) { return x * x * x - 2.0 * x - 5.0; }, 2.0, 3.0, 2.0945514815423266},
      {[](double x) { return 1.0 - std::exp(x); }, -3.0, 7.0, 0.0},  // decreasing
      {[](double x) { return std::atan(x - 100.0); }, 0.0, 1000.0, 100.0},
      {[](double x) { return x < 0.3 ? -1.0 : 1.0; }, 0.0, 1.0, 0.3}};  // a jump
  for (const Case& c : cases) {
    const Root root = bracketed_root(c.f, c.low, c.high);
    EXPECT_TRUE(root.status.converged());
    EXPECT_NEAR(root.x, c.root, 2e-12 * std::fmax(1.0, c.root));
    EXPECT_LE(root.status.residual, 1e-12 * std::fmax(1.0, c.root));
    EXPECT_LE(root.status.iterations, 100);
  }
}

TEST(BracketedRoot, AMultipleRootTakesMoreEvaluationsAndSaysSoWhenTheyRunOut) {
  // Interpolation does not help there: about three evaluations per halving of the bracket.
  for (const int power : {3, 5, 9}) {
    const auto f = [power](double x) { return std::pow(x - 1.0, power); };
    RootOptions options;
    EXPECT_EQ(bracketed_root(f, 0.0, 1.7, options).status.reason, StopReason::unfinished);
    options.max_evaluations = 200;
    const Root root = bracketed_root(f, 0.0, 1.7, options);
    EXPECT_TRUE(root.status.converged()) << power;
    EXPECT_NEAR(root.x, 1.0, tolerance::thousands_of_roundings) << power;
  }
}

TEST(BracketedRoot, StopsAtOnceWhenAnEndIsTheRoot) {
  const auto f = [](double x) { return x - 2.0; };
  for (const auto& [low, high] : {std::pair(2.0, 5.0), std::pair(-1.0, 2.0)}) {
    const Root root = bracketed_root(f, low, high);
    EXPECT_EQ(root.x, 2.0);
    EXPECT_TRUE(root.status.converged());
    EXPECT_EQ(root.status.iterations, 2);
    EXPECT_EQ(root.status.residual, 0.0);
  }
}

TEST(BracketedRoot, RefusesABracketWithoutASignChange) {
  const auto solve = [](auto f) { return [f] { (void)bracketed_root(f, 0.0, 1.0); }; };
  EXPECT_EQ(wrong_field(solve([](double x) { return 1.0 + x; })), "bracket");
  EXPECT_EQ(wrong_field(solve([](double x) { return -1.0 - x; })), "bracket");
  // The product of two tiny values underflows to 0, which is no sign change either.
  EXPECT_EQ(wrong_field(solve([](double x) { return 1e-200 * (1.0 + x); })), "bracket");
  EXPECT_EQ(wrong_field(solve([](double) { return std::numeric_limits<double>::quiet_NaN(); })),
            "bracket");
}

TEST(BracketedRoot, UsesNoMoreEvaluationsThanAllowedAndCountsThem) {
  for (const int allowed : {3, 4, 5, 7, 10, 100}) {
    int calls = 0;
    const auto f = [&](double x) {
      ++calls;
      return std::pow(x - 1.0 / 3.0, 9);
    };
    RootOptions options;
    options.max_evaluations = allowed;
    const Root root = bracketed_root(f, 0.0, 1.0, options);
    EXPECT_LE(calls, allowed);
    EXPECT_EQ(root.status.iterations, calls);
    EXPECT_NEAR(root.x, 1.0 / 3.0, root.status.residual);  // the bracket is honest all the same
    EXPECT_EQ(root.status.converged(), root.status.residual <= options.tolerance);
    if (allowed < 8) {
      EXPECT_EQ(root.status.reason, StopReason::unfinished);
    }
  }
}

TEST(BracketedRoot, ALargerToleranceTakesFewerEvaluations) {
  const auto f = [](double x) { return std::exp(x) - 3.0; };
  RootOptions rough;
  rough.tolerance = 1e-2;
  const Root a = bracketed_root(f, 0.0, 4.0, rough);
  const Root b = bracketed_root(f, 0.0, 4.0);
  EXPECT_LT(a.status.iterations, b.status.iterations);
  EXPECT_NEAR(a.x, std::log(3.0), rough_root);
}

TEST(BracketedRoot, NamesTheOptionThatIsWrong) {
  const auto field = [](double tolerance, int evaluations) {
    return wrong_field([&] { RootOptions{tolerance, evaluations}.validate(); });
  };
  EXPECT_EQ(field(1e-12, 100), "none");
  EXPECT_EQ(field(0.0, 100), "tolerance");
  EXPECT_EQ(field(std::numeric_limits<double>::quiet_NaN(), 100), "tolerance");
  EXPECT_EQ(field(1e-12, 2), "max_evaluations");
}

/// Replicates f_r(x) = sign (exp(x) - 2 - e_r), roots log(2 + e_r), carrying rows x^2 + e_r and a
/// constant.
struct NoisyExponential {
  std::vector<double> noise;
  double sign = 1.0;
  int calls = 0;

  std::vector<Replicates> operator()(double x) {
    ++calls;
    std::vector<Replicates> rows(3);
    for (const double e : noise) {
      rows[0].push_back(sign * (std::exp(x) - 2.0 - e));
      rows[1].push_back(x * x + e);
      rows[2].push_back(7.0);
    }
    return rows;
  }
};

/// Noise of zero mean and the given size, the same shape for every size.
std::vector<double> noise_of_size(double size) {
  std::vector<double> e;
  for (int r = 0; r < 16; ++r) e.push_back(size * std::sin(1.0 + 2.4 * r));
  const double centre = mean(e);
  for (double& x : e) x -= centre;
  return e;
}

double worst_error(double size, double sign, double tolerance) {
  NoisyExponential f{noise_of_size(size), sign};
  RootOptions options;
  options.tolerance = tolerance;
  const ReplicatedRoot root = replicated_root(std::ref(f), -1.0, 3.0, options);
  EXPECT_TRUE(root.status.converged());
  EXPECT_EQ(root.status.iterations, f.calls);
  EXPECT_LE(f.calls, 20);
  double worst = 0.0;
  for (std::size_t r = 0; r < f.noise.size(); ++r) {
    worst = std::fmax(worst, std::abs(root.x[r] - std::log(2.0 + f.noise[r])));
  }
  return worst;
}

TEST(ReplicatedRoot, EveryReplicateFindsItsOwnRootToSecondOrderInTheScatter) {
  for (const double sign : {1.0, -1.0}) {
    // x_r = x_0 + e/2 against log(2 + e) = x_0 + e/2 - e^2/8: at e = 0.1 sizes, 1.25e-3.
    const double large = worst_error(0.1, sign, 1e-9);
    const double small = worst_error(0.01, sign, 1e-9);
    EXPECT_LT(large, 1.6e-3);
    EXPECT_LT(small, 1.6e-5);
    EXPECT_NEAR(large / small, 100.0, a_fifth);
  }
}

TEST(ReplicatedRoot, ARoughToleranceIsRoughInTheMeanOnlyToSecondOrder) {
  // The last step corrects the distance that the tolerance leaves; what remains is of the order of
  // the product of the last two distances.
  for (const double sign : {1.0, -1.0}) EXPECT_LT(worst_error(0.01, sign, 0.02), 1e-3);
}

TEST(ReplicatedRoot, CarriesTheOtherRowsToEveryReplicatesRoot) {
  NoisyExponential f{noise_of_size(0.01)};
  RootOptions options;
  options.tolerance = 1e-9;
  const ReplicatedRoot root = replicated_root(std::ref(f), 0.0, 2.0, options);
  ASSERT_EQ(root.rows.size(), 2u);
  for (std::size_t r = 0; r < f.noise.size(); ++r) {
    EXPECT_NEAR(root.rows[0][r], root.x[r] * root.x[r] + f.noise[r], second_order_in_the_scatter);
    EXPECT_NEAR(root.rows[1][r], 7.0, tolerance::thousands_of_roundings);
  }
  EXPECT_NEAR(root.slope, 2.0, slope_between_two_ends);
  EXPECT_NEAR(root.status.residual, 0.0, residual_of_the_tolerance);
}

TEST(ReplicatedRoot, TheSlopeHasTheSignOfTheResidual) {
  NoisyExponential f{noise_of_size(0.01), -1.0};
  RootOptions options;
  options.tolerance = 1e-6;
  EXPECT_NEAR(replicated_root(std::ref(f), 0.0, 2.0, options).slope, -2.0, slope_of_a_rough_root);
}

TEST(ReplicatedRoot, IsExactForStraightLines) {
  // f_r = (1 + d_r) x - e_r: own slopes matter.
  const auto f = [](double x) {
    std::vector<Replicates> rows(2);
    for (int r = 0; r < 8; ++r) {
      rows[0].push_back((1.0 + 0.05 * r) * x - 0.1 * r);
      rows[1].push_back(3.0 * x + r);
    }
    return rows;
  };
  const ReplicatedRoot root = replicated_root(f, -1.0, 2.0, {1e-6, 20});
  for (int r = 0; r < 8; ++r) {
    const double exact = 0.1 * r / (1.0 + 0.05 * r);
    EXPECT_NEAR(root.x[static_cast<std::size_t>(r)], exact, tolerance::thousands_of_roundings);
    EXPECT_NEAR(root.rows[0][static_cast<std::size_t>(r)], 3.0 * exact + r,
                tolerance::many_roundings);
  }
}

TEST(ReplicatedRoot, ConvergesWhereOneEndIsFarSteeperThanTheRoot) {
  const auto f = [](double x) {
    return std::vector<Replicates>{{std::expm1(x), std::expm1(x) - 1e-6}};
  };
  const ReplicatedRoot root = replicated_root(f, -20.0, 20.0, {1e-8, 100});
  EXPECT_TRUE(root.status.converged());
  EXPECT_NEAR(root.x[0], 0.0, tolerance_of_the_root);
  EXPECT_NEAR(root.x[1], 1e-6, tolerance_of_the_root);
}

TEST(ReplicatedRoot, TheToleranceOfALargeRootIsRelative) {
  const auto iterations = [](double unit) {
    const auto f = [unit](double x) {
      return std::vector<Replicates>{{std::pow(x / unit, 3) - 1.0, std::pow(x / unit, 3) - 1.1}};
    };
    return replicated_root(f, 0.5 * unit, 2.0 * unit, {1e-3, 50}).status.iterations;
  };
  EXPECT_EQ(iterations(1e6), iterations(1.0));
}

TEST(ReplicatedRoot, SaysWhenTheEvaluationsWereUsedUp) {
  NoisyExponential f{noise_of_size(0.01)};
  const ReplicatedRoot root = replicated_root(std::ref(f), -10.0, 10.0, {1e-12, 4});
  EXPECT_EQ(root.status.reason, StopReason::unfinished);
  EXPECT_EQ(root.status.iterations, 4);
  EXPECT_EQ(f.calls, 4);
  EXPECT_EQ(root.x.size(), f.noise.size());
}

TEST(ReplicatedRoot, RefusesABracketWithoutASignChangeOfTheMean) {
  NoisyExponential f{noise_of_size(0.01)};
  EXPECT_EQ(wrong_field([&] {
              (void)replicated_root(std::ref(f), 1.0, 2.0, {1e-6, 20});
            }),
            "bracket");
  EXPECT_EQ(wrong_field([&] {
              (void)replicated_root(std::ref(f), -1.0, 0.0, {1e-6, 20});
            }),
            "bracket");
}

TEST(ReplicatedRoot, AReplicateWhoseSlopeIsLostInNoiseStaysNearTheOthers) {
  // Noise has made the residual of the last replicate flat: its own secant would end at infinity.
  const ReplicatedFunction f = [](double x) {
    return std::vector<Replicates>{{x - 1.0, x - 1.1, x - 0.9, 0.05}};
  };
  const ReplicatedRoot root = replicated_root(f, 0.0, 2.2, RootOptions{1e-3, 20});
  ASSERT_EQ(root.x.size(), 4u);
  EXPECT_NEAR(root.x[1], 1.1, tolerance::thousands_of_roundings);
  // 0.05 from 0, and the mean slope is 3/4, of which half is the least that is trusted.
  EXPECT_LE(std::abs(root.x[3] - root.x[0]), 0.2);
}

}  // namespace
}  // namespace onset::numerics
