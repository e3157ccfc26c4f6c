#include "smi/model/untied/deep_untied.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "support/contexts.hpp"

namespace onset::smi {
namespace {

/// Student's t of 15 degrees of freedom beyond 11: odds of 1.4e-8. Seeds are fixed.
constexpr double many_errors = 11.0;
/// Growth rate of one layer with weights of its own for queries and keys [smi 91].
const double one_layer = 2.0 + std::sqrt(5.0);

ChannelAtZero at_zero(const DeepUntied& model, std::size_t nodes) {
  return *deep_untied_model(model)->channel_at_zero({.nodes = nodes, .seed = 3},
                                                    testing::with_threads(2));
}

/// T = <z z^T> - I of both layers at a label, from draws of the first layer alone: 4 x 4 matrices
/// over q_1, q_2, k_1, k_2.
struct Excess {
  Eigen::Matrix4d layer[2] = {Eigen::Matrix4d::Zero(), Eigen::Matrix4d::Zero()};

  Excess(const Eigen::Vector2d& v, double skip, numerics::Stream& stream, int draws) {
    double total = 0.0;
    const Eigen::Vector2d n(std::numbers::sqrt2 / 2.0, -std::numbers::sqrt2 / 2.0);
    for (int i = 0; i < draws; ++i) {
      Eigen::Vector4d z;
      for (double& x : z) x = stream.normal();
      Eigen::Matrix2d scores = z.head<2>() * z.tail<2>().transpose();
      Eigen::Matrix2d b = scores.array().exp().matrix();
      for (int row = 0; row < 2; ++row) b.row(row) /= b.row(row).sum();
      b.diagonal().array() += skip;
      const double stretch = (Eigen::RowVector2d(1.0, -1.0) * b)(0);
      const Eigen::Vector2d x = b.inverse() * v / (std::numbers::sqrt2 * stretch);
      const double rho = x.norm();
      const double w = std::exp(-rho) / (rho * stretch * stretch * std::abs(b.determinant()));
      Eigen::Matrix4d last = Eigen::Matrix4d::Zero();
      last.topLeftCorner<2, 2>() = (1.0 + rho) / (rho * rho) * x * x.transpose();
      last.topRightCorner<2, 2>() = x * n.transpose();
      last.bottomLeftCorner<2, 2>() = n * x.transpose();
      // The sum of the keys is not seen.
      last.bottomRightCorner<2, 2>() = rho * n * n.transpose() + Eigen::Matrix2d::Constant(0.5);
      total += w;
      layer[0] += w * z * z.transpose();
      layer[1] += w * last;
    }
    for (Eigen::Matrix4d& t : layer) t = t / total - Eigen::Matrix4d::Identity();
  }
};

/// The largest growth rate from labels that were drawn, with two independent sets of inner draws.
double sampled_growth(const SequenceModel& model, double skip, std::size_t layer,
                      std::uint64_t replicate) {
  constexpr int labels = 1000, draws = 400;
  numerics::Stream stream(17, "deep untied test", replicate);
  Eigen::Matrix4d sum = Eigen::Matrix4d::Zero();
  std::vector<double> fields(8);
  for (int i = 0; i < labels; ++i) {
    stream.normal(fields);
    Eigen::Vector2d v;
    model.label(fields, {}, {v.data(), 2});
    const Eigen::Matrix4d a = Excess(v, skip, stream, draws).layer[layer];
    const Eigen::Matrix4d b = Excess(v, skip, stream, draws).layer[layer];
    for (Eigen::Index e = 0; e < 16; ++e) {
      const Eigen::Index p = e / 8, p2 = e / 4 % 2, q = e / 2 % 2, q2 = e % 2;
      for (Eigen::Index k = 0; k < 4; ++k) {
        sum(e / 4, e % 4) += a(2 * p + k / 2, 2 * q + k % 2) * b(2 * p2 + k / 2, 2 * q2 + k % 2);
      }
    }
  }
  const Eigen::Matrix4d mean = (sum + sum.transpose()) / (2.0 * labels);
  return Eigen::SelfAdjointEigenSolver<Eigen::Matrix4d>(mean).eigenvalues()[3];
}

TEST(DeepUntied, GrowthRatesAreThoseOfDrawnLabels) {
  constexpr double skip = 1.0;
  const DeepUntied options{.layers = 2, .skip = {skip}};
  const auto model = deep_untied_model(options);
  const ChannelAtZero channel = at_zero(options, 1024);
  // The last layer, which is the first to be learned.
  std::vector<double> found;
  for (std::uint64_t r = 0; r < 16; ++r) found.push_back(sampled_growth(*model, skip, 1, r));
  const Estimate sampled = numerics::reduce(found);
  const Estimate ruled = numerics::reduce(channel.growth[2]);
  EXPECT_LT(sampled.error, 0.1);  // of 3.6: else this would say little
  EXPECT_NEAR(ruled.value, sampled.value, many_errors * std::hypot(sampled.error, ruled.error));
  EXPECT_EQ(channel.growth[2], channel.growth[3]);  // queries and keys grow together
}

TEST(DeepUntied, TheLastLayerUnderALargeSkipIsOneLayer) {
  const ChannelAtZero channel = at_zero({.layers = 2, .skip = {400.0}}, 1024);
  // B is 400 + O(1): relative changes of labels of 1/400, and what they hide of the order of it.
  constexpr double of_the_skip = 0.01;
  EXPECT_NEAR(numerics::mean(channel.growth[3]) / one_layer, 1.0, of_the_skip);
  EXPECT_LT(numerics::mean(channel.growth[0]), of_the_skip);
}

TEST(DeepUntied, LayersBelowHideSomethingOfTheLast) {
  // Given the layers below, a label would tell as much as that of one layer (Jensen's inequality).
  for (const double skip : {0.3, 1.0, 3.0}) {
    for (const int layers : {2, 3}) {
      const ChannelAtZero channel = at_zero({.layers = layers, .skip = {skip}}, 512);
      const Estimate growth = numerics::reduce(channel.growth.back());
      EXPECT_LT(growth.value, one_layer);
      EXPECT_GT(growth.value, 0.5);
      EXPECT_LT(growth.error, 0.05);
      constexpr double of_the_mass = 0.02;  // a lattice of 512 points
      EXPECT_LT(channel.log_evidence_bias, of_the_mass);
    }
  }
}

TEST(DeepUntied, HasNoPosterior) {
  EXPECT_THROW((void)deep_untied_model({})->posterior({}), Refused);
  EXPECT_THROW((void)deep_untied_model({.layers = 12}), Refused);
}

}  // namespace
}  // namespace onset::smi
