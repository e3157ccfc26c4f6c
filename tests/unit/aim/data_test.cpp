#include "onset/aim/model/data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "onset/aim/model/orthant.hpp"
#include "onset/aim/model/output.hpp"
#include "onset/core/error.hpp"
#include "unit/aim/problem.hpp"

namespace onset::aim {
namespace {

TEST(AimData, ScoresHaveTheVariancesOfTheLimit) {
  // 4000 samples: a variance is known to 2.2 %; five of these, and the O(1/d) of Tr S^2.
  const auto model = model_of(ChannelKind::linear, 2);
  const Problem p = draw(model, 100, 0.4);
  double diagonal = 0.0;
  double off = 0.0;
  for (std::size_t s = 0; s < p.data.samples; ++s) {
    diagonal += std::pow(p.data.labels[4 * s], 2) / static_cast<double>(p.data.samples);
    off += std::pow(p.data.labels[4 * s + 1], 2) / static_cast<double>(p.data.samples);
  }
  double q0 = 0.0;
  for (const double x : p.teacher.matrix) q0 += x * x / 100.0;
  EXPECT_NEAR(q0, 1.51, 0.1);
  EXPECT_NEAR(off / q0, 1.0, 0.11);
  EXPECT_NEAR(diagonal / q0, 2.0, 0.22);
}

TEST(AimData, LabelsOfSoftmaxAreRowsOfProbabilities) {
  const Problem p = draw(model_of(ChannelKind::softmax, 3), 30, 0.1);
  for (std::size_t row = 0; row < p.data.samples * 3; ++row) {
    double sum = 0.0;
    for (std::size_t b = 0; b < 3; ++b) sum += std::exp(p.data.labels[3 * row + b]);
    EXPECT_NEAR(sum, 1.0, 1e-14);
  }
}

TEST(AimData, SoftmaxLabelsTellTheSameAtAnyTemperature) {
  // At beta = 1e5 most probabilities are below 1e-308; their logarithms are not. Rounding of log y
  // is that of beta h, so the scores come back to some units in the last place of h.
  auto warm = model_of(ChannelKind::softmax, 3);
  auto cold = warm;
  cold.beta = 1e5;
  const Problem one = draw(warm, 20, 0.1);
  const Problem other = draw(cold, 20, 0.1);
  const OutputFunction first(warm, one.data);
  const OutputFunction second(cold, other.data);
  const std::vector<double> variance(6, 1.0);
  const std::vector<double> omega(6, 0.0);
  std::vector<double> g(6);
  std::vector<double> h(6);
  for (std::size_t s = 0; s < one.data.samples; ++s) {
    first.gradient(s, omega, variance, g);
    second.gradient(s, omega, variance, h);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(g[i], h[i], 1e-13);
  }
}

TEST(AimData, TheFirstSamplesAreTheFirstSamples) {
  const Problem p = draw(model_of(ChannelKind::linear, 2), 10, 0.2);
  const Dataset part = p.data.first(7);
  EXPECT_EQ(part.samples, 7U);
  EXPECT_EQ(part.inputs.size(), 7U * 2 * 10);
  EXPECT_EQ(part.labels.size(), 7U * 4);
  EXPECT_EQ(part.inputs.back(), p.data.inputs[7 * 2 * 10 - 1]);
  EXPECT_EQ(part.labels.back(), p.data.labels[7 * 4 - 1]);
}

/// log Z_out of a softmax label by integrating over the unseen shift.
double log_softmax_evidence(const std::vector<double>& shown, const std::vector<double>& omega,
                            const std::vector<double>& variance) {
  double sum = 0.0;
  for (int i = -2000; i <= 2000; ++i) {
    double exponent = 0.0;
    for (std::size_t j = 0; j < shown.size(); ++j) {
      exponent -= std::pow(shown[j] + 0.005 * i - omega[j], 2) / (2.0 * variance[j]);
    }
    sum += std::exp(exponent);
  }
  return std::log(sum);
}

/// Six standard errors of a variance from 16000 numbers: a false alarm in 500 million runs.
TEST(AimData, LabelNoiseHasTheVarianceOfItsKind) {
  auto model = model_of(ChannelKind::linear, 2);
  const Problem clean = draw(model, 20, 40.0);
  model.noise = 0.7;
  for (const NoiseKind kind : {NoiseKind::scaled, NoiseKind::equal}) {
    model.noise_kind = kind;
    const Problem noisy = draw(model, 20, 40.0);
    ASSERT_EQ(noisy.data.inputs, clean.data.inputs);
    std::array<double, 4> variance{};
    for (std::size_t i = 0; i < clean.data.labels.size(); ++i) {
      variance[i % 4] += std::pow(noisy.data.labels[i] - clean.data.labels[i], 2) /
                         static_cast<double>(clean.data.samples);
    }
    const double diagonal = kind == NoiseKind::scaled ? 1.4 : 0.7;
    const double within = 6.0 * std::sqrt(2.0 / 16000.0);
    EXPECT_NEAR(variance[1] / 0.7, 1.0, within);
    EXPECT_EQ(variance[1], variance[2]);
    EXPECT_NEAR(0.5 * (variance[0] + variance[3]) / diagonal, 1.0, within / std::sqrt(2.0));
  }
}

TEST(AimOutput, SoftmaxGradientIsTheSlopeOfTheEvidence) {
  auto model = model_of(ChannelKind::softmax, 3);
  model.beta = 1.7;
  const Problem p = draw(model, 20, 0.05);
  // The scores themselves are one choice of what is shown, up to the shift that is integrated.
  std::vector<double> products;
  std::vector<double> scores;
  scores_of(p.data, p.teacher.matrix, products, scores, {});
  const OutputFunction output(model, p.data);
  const std::vector<double> variance{0.8, 0.5, 0.4, 0.9, 0.3, 1.1};
  std::vector<double> omega{0.1, -0.2, 0.3, 0.2, 0.5, -0.4};
  std::vector<double> g(6);
  const std::vector<double> shown(scores.begin(), scores.begin() + 6);
  output.gradient(0, omega, variance, g);
  for (std::size_t i = 0; i < 6; ++i) {
    auto up = omega;
    auto down = omega;
    up[i] += 1e-5;
    down[i] -= 1e-5;
    const double slope =
        (log_softmax_evidence(shown, up, variance) - log_softmax_evidence(shown, down, variance)) /
        2e-5;
    EXPECT_NEAR(g[i], slope, 1e-6 * (1.0 + std::abs(slope)));
  }
}

TEST(AimOutput, HardmaxGradientIsTheSlopeOfTheEvidence) {
  const auto model = model_of(ChannelKind::hardmax, 2);
  Dataset data;
  data.tokens = 2;
  data.dim = 2;
  data.samples = 4;
  data.inputs.assign(16, 0.0);
  data.labels = {0, 0, 0, 1, 1, 0, 1, 1};
  const OutputFunction output(model, data);
  const std::vector<double> variance{0.8, 0.35, 0.6};
  const std::vector<double> omega{0.3, -0.1, -0.4};
  for (std::size_t s = 0; s < 4; ++s) {
    const double s1 = data.labels[2 * s] == 0.0 ? 1.0 : -1.0;
    const double s2 = data.labels[2 * s + 1] == 1.0 ? 1.0 : -1.0;
    const auto evidence = [&](const std::vector<double>& w) {
      const double r1 = std::sqrt(variance[0] + variance[1]);
      const double r2 = std::sqrt(variance[2] + variance[1]);
      return std::log(orthant(s1 * (w[0] - w[1]) / r1, s2 * (w[2] - w[1]) / r2,
                              s1 * s2 * variance[1] / (r1 * r2))
                          .probability);
    };
    std::vector<double> g(3);
    output.gradient(s, omega, variance, g);
    for (std::size_t i = 0; i < 3; ++i) {
      auto up = omega;
      auto down = omega;
      up[i] += 1e-5;
      down[i] -= 1e-5;
      EXPECT_NEAR(g[i], (evidence(up) - evidence(down)) / 2e-5, 1e-8);
    }
  }
}

TEST(AimOutput, WrongLabelsAreNamed) {
  auto model = model_of(ChannelKind::hardmax, 2);
  Problem p = draw(model, 10, 0.1);
  p.data.labels[3] = 2.0;
  EXPECT_THROW(OutputFunction(model, p.data), InvalidArgument);
  model = model_of(ChannelKind::softmax, 2);
  p = draw(model, 10, 0.1);
  for (const double log_y : {0.0, -std::numeric_limits<double>::infinity()}) {
    p.data.labels[0] = log_y;
    EXPECT_THROW(OutputFunction(model, p.data), InvalidArgument);
  }
  model = model_of(ChannelKind::hardmax, 3);
  p = draw(model, 10, 0.1);
  EXPECT_NO_THROW(OutputFunction(model, p.data));
  for (const auto& circle : {std::array{1.0, 2.0, 0.0}, std::array{2.0, 0.0, 1.0}}) {
    std::copy(circle.begin(), circle.end(), p.data.labels.begin() + 6);
    EXPECT_THROW(OutputFunction(model, p.data), InvalidArgument);
  }
  model = model_of(ChannelKind::hardmax, 4);
  EXPECT_THROW(OutputFunction(model, draw(model, 10, 0.1).data), Refused);
}

TEST(AimOutput, LabelsOfScoresThatAreNotSymmetricAreRefused) {
  auto model = model_of(ChannelKind::linear, 2);
  Problem p = draw(model, 10, 0.1);
  p.data.labels[1] += 0.01;
  EXPECT_THROW(OutputFunction(model, p.data), InvalidArgument);
  // Two rows of a softmax can always be of symmetric scores, three not: turn the first one around.
  model = model_of(ChannelKind::softmax, 3);
  p = draw(model, 10, 0.1);
  std::rotate(p.data.labels.begin(), p.data.labels.begin() + 1, p.data.labels.begin() + 3);
  EXPECT_THROW(OutputFunction(model, p.data), InvalidArgument);
}

}  // namespace
}  // namespace onset::aim
