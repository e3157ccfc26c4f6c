#include "smi/learners/smoothed_posterior.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "onset/core/error.hpp"
#include "onset/smi/model/links.hpp"

namespace onset::smi {
namespace {

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
      const SmoothedPrior prior = smoothed_prior(model->shape(), {v});
      const FieldMoments moments =
          smoothed_moments(*posterior, model->shape(), prior, {1, {&radius, 1}, {omega, 2}, 0});
      const OnACircle truth(radius, omega, v);
      for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(moments.mean[k], truth.mean[k], 2e-6);
      for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(moments.second[k], truth.second[k], 2e-6);
    }
  }
}

TEST(SmiSmoothedPosterior, TakesOneNodeWhereTheCovarianceIsEven) {
  const FieldShape shape{2, {1, 2}};
  EXPECT_EQ(smoothed_prior(shape, {{0.3}, {0.2, 0.0, 0.0, 0.2}}).nodes(), 1U);
  EXPECT_GT(smoothed_prior(shape, {{0.3}, {0.2, 0.0, 0.0, 0.19}}).nodes(), 100U);
}

TEST(SmiSmoothedPosterior, RefusesCovariancesThatWouldTakeTooLong) {
  EXPECT_THROW((void)smoothed_prior({1, {2}}, {{1.0, 0.0, 0.0, 1e-9}}), Refused);
}

TEST(SmiSmoothedPosterior, MapsEigenvalues) {
  std::vector<double> matrix = {2.0, 1.0, 1.0, 2.0};  // eigenvalues 1 and 3
  map_eigenvalues(matrix, 2, [](double x) { return 1.0 / x; });
  EXPECT_NEAR(matrix[0], 2.0 / 3.0, 1e-14);
  EXPECT_NEAR(matrix[1], -1.0 / 3.0, 1e-14);
}

}  // namespace
}  // namespace onset::smi
