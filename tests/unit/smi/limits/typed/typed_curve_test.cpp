#include "smi/limits/typed/typed_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

/// Standard errors (eight replicates) beyond which an agreement fails: false alarms are rarer than
/// 1e-6.
constexpr double many_errors = 17.0;

TypedCurvePoint point_at(const std::string& text, double alpha,
                         BranchChoice choice = BranchChoice::uninformed, std::uint64_t seed = 1) {
  TypedCurvePoint out;
  TypedCurveOptions options;
  options.choice = choice;
  options.seed = seed;
  const TypedCurve curve = typed_curve(TypedLink(text, 0.0), {alpha}, options, {},
                                       [&](const TypedCurvePoint& point) { out = point; });
  EXPECT_EQ(curve.doubt, "") << text;
  EXPECT_EQ(out.doubt, "") << text;
  return out;
}

// V^-1 - 1 = alpha / (V + 1): V = sqrt 2 - 1 at alpha = 2.
TEST(TypedCurve, ANoisyLinearLinkHasItsClosedFixedPoint) {
  const TypedCurvePoint p = point_at("z1+e1", 2.0);
  const double q = 2.0 - std::sqrt(2.0);
  EXPECT_NEAR(p.overlap[0].value, q, many_errors * p.overlap[0].error);
  EXPECT_LT(p.overlap[0].error, 5e-3);
  // The label without its noise is the field: both errors are V.
  EXPECT_NEAR(p.error_bayes->value, 1.0 - q, many_errors * p.error_bayes->error);
  EXPECT_NEAR(p.error_plugin->value, 1.0 - q, many_errors * p.error_plugin->error);
  // Phi = alpha Psi + (Q + log V)/2 with Psi = -log(2 pi e (V + 1))/2.
  const double psi = -0.5 * std::log(2.0 * std::acos(-1.0) * std::exp(1.0) * std::sqrt(2.0));
  const double phi = 2.0 * psi + 0.5 * (q + std::log(std::sqrt(2.0) - 1.0));
  EXPECT_NEAR(p.free_entropy->value, phi, many_errors * p.free_entropy->error);
}

// A label that is another name for the field: Q = alpha, and exact from 1 on. Its square has no
// mean, so that there are no test errors.
TEST(TypedCurve, AQuotientIsLearnedLikeALinearLinkButHasNoTestError) {
  const TypedCurvePoint p = point_at("1/z1", 0.5);
  EXPECT_NEAR(p.overlap[0].value, 0.5, many_errors * p.overlap[0].error);
  EXPECT_FALSE(p.error_bayes.has_value());
  const TypedCurvePoint exact = point_at("z1^3", 1.3);
  EXPECT_EQ(exact.overlap[0].value, 1.0);
  EXPECT_EQ(exact.overlap[0].error, 0.0);
  EXPECT_FALSE(exact.free_entropy.has_value());
}

// A direction that labels show by themselves has Q = alpha C_1 up to a relative alpha, however
// small that is.
TEST(TypedCurve, FewSamplesLearnWhatLabelsShowInProportion) {
  const double gain = 2.0 / std::acos(-1.0);
  for (const double alpha : {1e-6, 1e-4, 1e-2}) {
    const TypedCurvePoint p = point_at("sign(z1)", alpha);
    EXPECT_NEAR(p.overlap[0].value / alpha, gain, many_errors * p.overlap[0].error / alpha + alpha);
    EXPECT_LT(p.overlap[0].error, 0.02 * p.overlap[0].value);
  }
}

// Where nothing is known the errors are p and p (1 - p), and no replicate sees fractions of points.
TEST(TypedCurve, ErrorsOfABitCountPoints) {
  for (const double cut : {1.3, 0.1015, 0.5}) {
    const TypedCurvePoint p = point_at("step(z1^2-" + std::to_string(cut) + ")", 0.1);
    const double mass = std::erfc(std::sqrt(0.5 * cut));
    EXPECT_GT(p.error_plugin->error, 1e-5);
    EXPECT_NEAR(p.error_plugin->value, mass, 6.0 * p.error_plugin->error);
    EXPECT_NEAR(p.error_bayes->value, mass * (1.0 - mass), 6.0 * p.error_bayes->error);
  }
}

/// E g^2 of the label sign(z^2 - 1), which is one bit, by the trapezoid rule.
double one_bit_precision(double q) {
  const double v = 1.0 - q;
  const auto density = [v](double x) {
    return std::exp(-0.5 * x * x / v) / std::sqrt(2.0 * std::acos(-1.0) * v);
  };
  const auto below = [v](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0 * v)); };
  constexpr double step = 0.01;
  double sum = 0.0;
  for (double eta = -8.0; eta <= 8.0; eta += step) {
    const double omega = std::sqrt(q) * eta;
    const double inside = below(1.0 - omega) - below(-1.0 - omega);
    const double slope = density(-1.0 - omega) - density(1.0 - omega);
    sum += step * std::exp(-0.5 * eta * eta) * slope * slope / (inside * (1.0 - inside));
  }
  return sum / std::sqrt(2.0 * std::acos(-1.0));
}

// 3 % above its threshold, 0.925, an overlap is small, and no less than it is: residuals are small
// there because overlaps are.
TEST(TypedCurve, SmallOverlapsJustAboveAThresholdAreFound) {
  const double alpha = 0.95;
  double low = 1e-3;
  double high = 0.1;
  while (high - low > 1e-9) {
    const double q = 0.5 * (low + high);
    (alpha * one_bit_precision(q) > q / (1.0 - q) ? low : high) = q;
  }
  const TypedCurvePoint p = point_at("sign(z1^2-1)", alpha);
  EXPECT_NEAR(p.overlap[0].value, low, many_errors * p.overlap[0].error);
  EXPECT_LT(p.overlap[0].error, 0.5 * low);
  const TypedCurvePoint from_truth = point_at("sign(z1^2-1)", alpha, BranchChoice::informed);
  EXPECT_NEAR(from_truth.overlap[0].value, low, many_errors * from_truth.overlap[0].error);
}

// Near exact recovery (from 2 on) the slope of state evolution is next to 1. The values solve
// 1 - V = alpha R(V) with one-dimensional integrals for the half line and the point.
TEST(TypedCurve, FixedPointsNextToExactRecoveryAreFound) {
  const std::pair<double, double> known[] = {
      {1.8, 0.9834028761}, {1.9, 0.9955659893}, {1.95, 0.9988479470}};
  for (const auto& [alpha, overlap] : known) {
    const TypedCurvePoint p = point_at("relu(z1)", alpha);
    EXPECT_NEAR(p.overlap[0].value, overlap, many_errors * p.overlap[0].error) << alpha;
    EXPECT_LT(p.overlap[0].error, 5e-3) << alpha;
  }
}

TEST(TypedCurve, BelowTheThresholdNothingIsLearned) {
  const TypedCurvePoint p = point_at("z1^2", 0.4);
  EXPECT_EQ(p.overlap[0].value, 0.0);
  // Var y = 2, and the plug-in value 0 has E y^2 = 3.
  EXPECT_NEAR(p.error_bayes->value, 2.0, many_errors * p.error_bayes->error);
  EXPECT_NEAR(p.error_plugin->value, 3.0, many_errors * p.error_plugin->error);
}

// The free entropy of y = z^2, with closed quadratures: its maximum at alpha = 0.8, at Q = 0.21623,
// and where nothing is learned alpha E log p(y) [links 19].
TEST(TypedCurve, FreeEntropiesOfASquareDoNotScatterWithItsLogarithm) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const TypedCurvePoint p = point_at("z1^2", 0.8, BranchChoice::uninformed, seed);
    EXPECT_NEAR(p.free_entropy->value, -0.625420, many_errors * p.free_entropy->error);
    EXPECT_LT(p.free_entropy->error, 1.5e-3);  // it was up to 1e-2
  }
  const TypedCurvePoint none = point_at("z1^2", 0.4);
  EXPECT_NEAR(none.free_entropy->value, 0.5 * -0.6270056884, tolerance::difference_quotient);
}

// In the hard phase of phase retrieval (between 1 and 1.128) exact recovery is the optimum.
TEST(TypedCurve, TheOptimumIsExactInTheHardPhase) {
  EXPECT_EQ(point_at("z1^2", 1.06, BranchChoice::optimal).overlap[0].value, 1.0);
  EXPECT_LT(point_at("z1^2", 1.06).overlap[0].value, 0.8);
}

// Overlaps between directions: those of max(z1, z2) below 0.997 are all the same, and on the branch
// that ends at the closed threshold 0.9971593 with Q = 0.5673775 along (z1+z2)/sqrt2.
// z1 is exact from 1 on, z2^2 from small overlaps from 1.128 on only: an independent state
// evolution of z^2 on a grid has 0.69079 at 1.1.
TEST(LongTypedCurve, WhatBecomesExactTakesNothingElseAlong) {
  TypedCurveOptions options;
  options.choice = BranchChoice::uninformed;
  options.tolerance = 0.02;
  std::vector<TypedCurvePoint> points;
  (void)typed_curve(TypedLink("z1, z2^2", 0.0), {1.1}, options, {},
                    [&](const TypedCurvePoint& point) { points.push_back(point); });
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].overlap[0].value, 1.0);
  EXPECT_NEAR(points[0].overlap[2].value, 0.69079, many_errors * points[0].overlap[2].error);
  EXPECT_LT(points[0].overlap[2].error, 3.0 * options.tolerance);
}

TEST(LongTypedCurve, TheOverlapMatrixIsFull) {
  const TypedCurvePoint p = point_at("max(z1, z2)", 0.985);
  const TypedCurvePoint next = point_at("max(z1, z2)", 0.975);
  ASSERT_EQ(p.overlap.size(), 3U);
  EXPECT_NEAR(p.overlap[1].value, p.overlap[0].value, tolerance::thousands_of_roundings);
  // The branch is straight over so short a way: the rest of it is extrapolated.
  const double along = 2.0 * p.overlap[0].value;
  const double slope = (along - 2.0 * next.overlap[0].value) / 0.01;
  const double error = 2.0 * p.overlap[0].error * (1.0 + 2.0 * 1.22);
  EXPECT_NEAR(along + 0.0121593 * slope, 0.5673775, many_errors * error);
}

}  // namespace
}  // namespace onset::smi
