#include "aim/limits/label_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "aim/model/channels.hpp"

namespace onset::aim {
namespace {

AttentionIndexed model_with(const Channel& channel, int tokens, double noise_variance = 0.0) {
  AttentionIndexed model;
  model.channel = &channel;
  model.tokens = tokens;
  model.noise_variance = noise_variance;
  return model;
}

/// The trapezoidal rule below and the library's leave this much.
constexpr double quadrature_rounding = 1e-12;

/// A function of a standard normal, averaged.
template <class F>
double normal_mean(const F& f) {
  constexpr double step = 0.125;
  double sum = 0.0;
  for (int i = -80; i <= 80; ++i) sum += std::exp(-0.5 * step * i * step * i) * f(step * i);
  return sum * step / std::sqrt(2.0 * std::numbers::pi);
}

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}

/// Two tokens: four entries, all of them sigmoids of differences of variance 3 Q. Here the
/// conditional mean is integrated as such.
TEST(LabelError, OfTheBestPredictionIsTheConditionalVariance) {
  const double q = 0.9;
  const double v = 0.6;
  for (const double s : {0.0, 0.25}) {
    const double mean_variance = normal_mean([&](double x) {
      const double known = std::sqrt(3.0 * q) * x;
      const auto score = [&](double z) { return known + std::sqrt(3.0 * (v + s)) * z; };
      const double mean = normal_mean([&](double z) { return sigmoid(score(z)); });
      return normal_mean([&](double z) { return std::pow(sigmoid(score(z)) - mean, 2); });
    });
    const double plug_in = normal_mean([&](double x) {
      const double known = std::sqrt(3.0 * q) * x;
      return normal_mean([&](double z) {
        return std::pow(sigmoid(known + std::sqrt(3.0 * (v + s)) * z) - sigmoid(known), 2);
      });
    });
    const auto found = LabelErrors(model_with(softmax_channel(), 2, s), 1).at({q, 0.0}, {v, 0.0});
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->bayes.value, 4.0 * mean_variance, quadrature_rounding);
    EXPECT_NEAR(found->plug_in.value, 4.0 * plug_in, quadrature_rounding);
  }
}

/// Two tokens choose by the sign of a difference: the share of wrong ones is an angle over pi,
/// whose sine is small and has all of its digits.
TEST(LabelError, WrongChoicesOfAKnownMatrixKeepTheirDigits) {
  constexpr double relative = 1e-13;
  for (const double v : {1e-3, 1e-10, 1e-20}) {
    const auto found =
        LabelErrors(model_with(hardmax_channel(), 2), 1).at({1.5 - v, 0.0}, {v, 0.0});
    ASSERT_TRUE(found);
    const double share = std::asin(std::sqrt(v / 1.5)) / std::numbers::pi;
    EXPECT_NEAR(found->bayes.value, share, relative * share);
  }
}

TEST(LabelError, LinearLabelsShowTheErrorOfTheMatrixAndTheNoise) {
  const auto found =
      LabelErrors(model_with(linear_channel(), 3, 0.1), 1).at({1.0, 0.0}, {0.5, 0.01});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->bayes.value, 12.0 * 0.5 + 12.0 * 0.1);
  EXPECT_DOUBLE_EQ(found->bayes.error, 12.0 * 0.01);
  EXPECT_DOUBLE_EQ(found->plug_in.value, found->bayes.value);
}

TEST(LabelError, IsNothingWhereTheMatrixIsKnownAndTheBestIsNeverWorse) {
  for (const Channel* channel : {&softmax_channel(), &hardmax_channel()}) {
    for (const int tokens : {2, 3, 4}) {
      const LabelErrors errors(model_with(*channel, tokens), 1);
      EXPECT_EQ(errors.at({1.5, 0.0}, {0.0, 0.0})->bayes.value, 0.0);
      for (const double v : {0.05, 0.5, 1.0}) {
        const auto found = errors.at({1.5 - v, 0.0}, {v, 0.0});
        EXPECT_LE(found->bayes.value, found->plug_in.value);
        EXPECT_GT(found->bayes.value, 0.0);
      }
    }
  }
}

TEST(LabelError, AnErrorOfTheOverlapIsCarriedOn) {
  const LabelErrors errors(model_with(softmax_channel(), 2), 1);
  const auto with = errors.at({0.9, 0.01}, {0.6, 0.01});
  const auto up = errors.at({0.89, 0.0}, {0.61, 0.0});
  const auto at = errors.at({0.9, 0.0}, {0.6, 0.0});
  constexpr double half = 0.5;  // of a small difference; the function bends little
  EXPECT_NEAR(with->bayes.error, up->bayes.value - at->bayes.value, half * with->bayes.error);
  EXPECT_GT(with->bayes.error, 0.0);
}

TEST(LabelError, ThereIsNoneForOneLabelOfSeveralLayers) {
  AttentionIndexed model = model_with(softmax_channel(), 2);
  model.layers = 2;
  EXPECT_FALSE(LabelErrors(model, 1).at({1.0, 0.0}, {0.5, 0.0}));
}

TEST(LabelError, ASteepSoftmaxHasNone) {
  AttentionIndexed model;
  for (const double beta : {30.0, 1e5}) {
    model.beta = beta;
    EXPECT_FALSE(LabelErrors(model, 1).at({1.1, 0.0}, {0.4, 0.0})) << beta;
  }
  model.beta = 20.0;
  EXPECT_TRUE(LabelErrors(model, 1).at({1.1, 0.0}, {0.4, 0.0}));
}

}  // namespace
}  // namespace onset::aim
