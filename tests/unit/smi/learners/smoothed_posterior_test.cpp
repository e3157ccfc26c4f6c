#include "smi/learners/smoothed_posterior.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "onset/core/error.hpp"
#include "smi/model/links.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

/// What is left of an uneven covariance is integrated by a rule with few nodes, good to 1e-6
/// here.
constexpr double of_the_smoothing_rule = 2e-6;
/// Steps of 1/190 of a deviation, at a boundary along the diagonal: below 1e-3 of the moments.
constexpr double steps_at_a_boundary = 1e-3;

/// Moments of z - omega given |z| = radius under N(omega, V): an integral over the angle.
struct OnACircle {
  double mean[2] = {0.0, 0.0};
  double second[3] = {0.0, 0.0, 0.0};
  OnACircle(double radius, const double* omega, const std::vector<double>& v) {
    const double det = v[0] * v[3] - v[1] * v[2];
    double total = 0.0;
    constexpr int steps = 20'000;
    for (int k = 0; k < steps; ++k) {
      const double angle = 2.0 * std::numbers::pi * k / steps;
      const double a = radius * std::cos(angle) - omega[0];
      const double b = radius * std::sin(angle) - omega[1];
      const double w = std::exp(-0.5 * (v[3] * a * a - 2.0 * v[1] * a * b + v[0] * b * b) / det);
      total += w;
      mean[0] += w * a;
      mean[1] += w * b;
      second[0] += w * a * a;
      second[1] += w * a * b;
      second[2] += w * b * b;
    }
    for (double& x : mean) x /= total;
    for (double& x : second) x /= total;
  }
};

TEST(SmiSmoothedPosterior, AgreesWithTheIntegralOverACircleForAnyCovariance) {
  const auto model = link_model("norm");
  const auto posterior = model->posterior({});
  const std::vector<std::vector<double>> covariances = {
      {1.0, 0.0, 0.0, 1.0}, {0.8, 0.1, 0.1, 0.4}, {0.5, -0.3, -0.3, 0.3}, {0.9, 0.0, 0.0, 0.02}};
  for (const auto& v : covariances) {
    for (const double radius : {0.5, 1.6}) {
      const double omega[2] = {0.4, -0.9};
      const SmoothedPrior prior = smoothed_prior(model->shape(), v, BetweenBlocks::nothing);
      const FieldMoments moments =
          smoothed_moments(*posterior, model->shape(), prior, {1, {&radius, 1}, {omega, 2}, 0});
      const OnACircle truth(radius, omega, v);
      for (std::size_t k = 0; k < 2; ++k)
        EXPECT_NEAR(moments.mean[k], truth.mean[k], of_the_smoothing_rule);
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_NEAR(moments.second[k], truth.second[k], of_the_smoothing_rule);
    }
  }
}

TEST(SmiSmoothedPosterior, AgreesWithAPlaneIntegralForBlocksThatDependOnOneAnother) {
  const auto model = link_model("committee");
  const auto posterior = model->posterior({});
  ASSERT_EQ(between_blocks(*posterior, model->shape()), BetweenBlocks::nodes);
  const double omega[2] = {0.4, -0.7};
  const std::vector<DirectionMatrix> covariances = {
      {0.8, 0.02, 0.02, 0.3}, {0.5, -0.2, -0.2, 0.4}, {0.9, 0.07, 0.07, 0.01}};
  for (const DirectionMatrix& v : covariances) {
    const double det = v[0] * v[3] - v[1] * v[2];
    for (const double label : {2.0, 0.0, -2.0}) {
      // |a| > |b| with the label's sign, or |a| < |b|: sums over a fine grid of the plane.
      double total = 0.0, a_mean = 0.0, b_mean = 0.0, cross = 0.0;
      constexpr int half = 1500;
      for (int i = -half; i <= half; ++i) {
        for (int j = -half; j <= half; ++j) {
          const double a = (i + 0.31) * 8.0 / half * std::sqrt(v[0]);
          const double b = (j + 0.37) * 8.0 / half * std::sqrt(v[3]);
          const double z[2] = {omega[0] + a, omega[1] + b};
          double y = 0.0;
          model->label(z, {}, {&y, 1});
          if (y != label) continue;
          const double w =
              std::exp(-0.5 * (v[3] * a * a - 2.0 * v[1] * a * b + v[0] * b * b) / det);
          total += w;
          a_mean += w * a;
          b_mean += w * b;
          cross += w * a * b;
        }
      }
      const SmoothedPrior prior = smoothed_prior(model->shape(), v, BetweenBlocks::nodes);
      const FieldMoments moments =
          smoothed_moments(*posterior, model->shape(), prior, {1, {&label, 1}, {omega, 2}, 0});
      // Steps of 1/190 of a deviation, at a boundary along the diagonal: below 1e-3 of the moments.
      EXPECT_NEAR(moments.mean[0], a_mean / total, steps_at_a_boundary);
      EXPECT_NEAR(moments.mean[1], b_mean / total, steps_at_a_boundary);
      EXPECT_NEAR(moments.cross[0], cross / total, steps_at_a_boundary);
    }
  }
}

TEST(SmiSmoothedPosterior, TakesOneNodeWhereTheBlocksAreEven) {
  const FieldShape shape{2, {1, 2}};
  const auto nodes = [&](double last, double between, BetweenBlocks how) {
    const DirectionMatrix v = {0.3, between, 0.0, between, 0.2, 0.0, 0.0, 0.0, last};
    return smoothed_prior(shape, v, how).nodes();
  };
  EXPECT_EQ(nodes(0.2, 0.0, BetweenBlocks::nodes), 1U);
  EXPECT_EQ(nodes(0.2, 0.01, BetweenBlocks::nothing), 1U);
  EXPECT_EQ(nodes(0.2, 0.01, BetweenBlocks::weights), 1U);
  EXPECT_GT(nodes(0.2, 0.01, BetweenBlocks::nodes), 100U);  // two directions, two tokens
  EXPECT_GT(nodes(0.19, 0.0, BetweenBlocks::nothing), 10U);
  EXPECT_GT(nodes(0.05, 0.0, BetweenBlocks::nothing), 200U);
}

TEST(SmiSmoothedPosterior, RefusesCovariancesThatWouldTakeTooLong) {
  EXPECT_THROW((void)smoothed_prior({1, {2}}, {1.0, 0.0, 0.0, 1e-9}, BetweenBlocks::nothing),
               Refused);
}

TEST(SmiSmoothedPosterior, InvertsCovariancesOfManyScales) {
  // [[a, c], [c, b]] with a correlation of 1/2; its determinant is 3 a b / 4.
  for (const double a : {1.0, 1e-12, 1e-24}) {
    const double c = 0.5 * std::sqrt(a);
    DirectionMatrix matrix = {a, c, c, 1.0};
    ASSERT_TRUE(invert(matrix, 2));
    EXPECT_NEAR(matrix[0] * a, 4.0 / 3.0, tolerance::dozens_of_roundings);
    EXPECT_NEAR(matrix[1] * std::sqrt(a), -2.0 / 3.0, tolerance::dozens_of_roundings);
    EXPECT_NEAR(matrix[3], 4.0 / 3.0, tolerance::dozens_of_roundings);
  }
}

TEST(SmiSmoothedPosterior, InvertsNothingThatIsNotPositive) {
  for (DirectionMatrix matrix : {DirectionMatrix{1.0, 1.0, 1.0, 1.0},
                                 {1.0, 2.0, 2.0, 1.0},
                                 {1.0, NAN, NAN, 1.0},
                                 {-1.0, 0.0, 0.0, 1.0}}) {
    EXPECT_FALSE(invert(matrix, 2));
  }
}

TEST(SmiSmoothedPosterior, LimitsWhatBlocksHaveInCommon) {
  const FieldShape shape{1, {1, 1}};
  DirectionMatrix weak = {0.5, 0.1, 0.1, 0.5};
  limit_between(shape, weak);
  EXPECT_EQ(weak[1], 0.1);
  DirectionMatrix strong = {0.5, -0.49, -0.49, 0.5};
  limit_between(shape, strong);
  EXPECT_NEAR(strong[1], -0.45, tolerance::dozens_of_roundings);
}

TEST(SmiSmoothedPosterior, CutsNegativeEigenvaluesInUnitsOfV) {
  // Eigenvalues 3 and -1 in those units: what is left is 3/2 in every entry.
  const DirectionMatrix covariance = {1e-20, 0.0, 0.0, 1.0};
  DirectionMatrix matrix = {1e20, 2e10, 2e10, 1.0};
  cut_negative(matrix, covariance, 2);
  EXPECT_NEAR(matrix[0] / 1e20, 1.5, tolerance::dozens_of_roundings);
  EXPECT_NEAR(matrix[2] / 1e10, 1.5, tolerance::dozens_of_roundings);
  EXPECT_NEAR(matrix[3], 1.5, tolerance::dozens_of_roundings);
}

}  // namespace
}  // namespace onset::smi
