#include "smi/model/typed/typed_model.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

std::unique_ptr<SequenceModel> model_of(const std::string& text, std::size_t tokens = 1) {
  return typed_model(std::make_shared<const TypedLink>(text, 0.0), tokens);
}

// A linear link has a Gaussian posterior, also of the direction z2 that it does not read.
TEST(TypedModel, APriorOfAnyCovarianceGivesGaussianMomentsOfALinearLink) {
  const auto model = model_of("z1+2*z3");
  const auto posterior = model->posterior({128, 1});
  Eigen::Matrix3d v;
  v << 0.8, 0.3, -0.1, 0.3, 0.5, 0.1, -0.1, 0.1, 0.4;
  const Eigen::Vector3d a(1.0, 0.0, 2.0);
  const std::vector<double> omega{0.2, -0.5, 0.3};
  const std::vector<double> label{1.7};
  const std::vector<double> ones(3, 1.0);
  PosteriorQuery query;
  query.count = 1;
  query.label = label;
  query.omega = omega;
  query.variance = ones;
  query.covariance = {v.data(), 9};
  PosteriorMoments moments(model->shape(), 1, true);
  posterior->moments(query, moments);
  const double spread = a.dot(v * a);
  const double miss = 1.7 - 0.2 - 0.6;
  const Eigen::Vector3d mean = v * a * miss / spread;
  const Eigen::Matrix3d second = v - v * a * a.transpose() * v / spread + mean * mean.transpose();
  // Lines 0.25 apart: the trapezoid rule errs by less than this on a straight level set.
  constexpr double rule_error = 2e-3;
  for (const auto& half : moments.half) {
    EXPECT_NEAR(half.log_z[0],
                -0.5 * miss * miss / spread - 0.5 * std::log(2.0 * std::numbers::pi * spread),
                rule_error);
    for (Eigen::Index p = 0; p < 3; ++p) {
      EXPECT_NEAR(half.mean[static_cast<std::size_t>(p)], mean(p), rule_error);
      EXPECT_NEAR(half.second[static_cast<std::size_t>(p)], second(p, p), rule_error);
      for (Eigen::Index q = 0; q < p; ++q) {
        const std::size_t pair =
            FieldShape::direction_pair(static_cast<std::size_t>(p), static_cast<std::size_t>(q));
        EXPECT_NEAR(half.cross[pair], second(p, q), rule_error);
      }
    }
  }
}

// Two tokens of one direction: moments between tokens of the one block.
TEST(TypedModel, TokensShareADirection) {
  const auto model = model_of("z1_1+z1_2", 3);
  EXPECT_EQ(model->shape().fields(), 3U);
  const auto posterior = model->posterior({128, 1});
  const std::vector<double> omega(3, 0.0);
  const std::vector<double> label{1.0};
  const std::vector<double> variance{0.5};
  PosteriorMoments moments(model->shape(), 1);
  posterior->moments({1, label, omega, variance}, moments);
  constexpr double rule_error = 2e-3;
  const auto& half = moments.half[0];
  // In units of sqrt V: z_1 + z_2 = 1 has means 1/2 of the fields; the third token is as it was.
  EXPECT_NEAR(half.mean[0], 0.5 / std::sqrt(0.5), rule_error);
  EXPECT_NEAR(half.mean[2], 0.0, tolerance::few_roundings);
  EXPECT_NEAR(half.second[1], -0.5 + 0.5, rule_error);  // <zeta_2 zeta_1>
  EXPECT_NEAR(half.second[5], 1.0, tolerance::few_roundings);
}

TEST(TypedModel, NoiseFieldsAreTheSamplesOwn) {
  const auto model = model_of("z1+0.5*e1+2*e2");
  EXPECT_EQ(model->noise_size(), 2);
  EXPECT_EQ(model->constraints(), 0.0);
  double label = 0.0;
  const std::vector<double> fields{3.0};
  const std::vector<double> noise{1.0, 10.0};
  model->label(fields, noise, {&label, 1});
  EXPECT_DOUBLE_EQ(label, 23.5);
  model->prediction(fields, {&label, 1});
  EXPECT_DOUBLE_EQ(label, 3.0);
}

TEST(TypedModel, HalfOfTheLabelsOfReluFixANumber) {
  // The fraction of 4096 points with positive z1: six standard errors.
  constexpr double counting_error = 6.0 * 0.5 / 64.0;
  EXPECT_NEAR(model_of("relu(z1)")->constraints(), 0.5, counting_error);
}

}  // namespace
}  // namespace onset::smi
