#include "smi/limits/evolution.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "onset/core/error.hpp"
#include "smi/limits/curve.hpp"
#include "smi/model/attention_model.hpp"
#include "smi/model/links.hpp"
#include "support/one_layer_gain.hpp"

namespace onset::smi {
namespace {

/// Student t of 15 degrees of freedom (16 replicates) beyond 11: odds of 1.4e-8, so that the some
/// 60 comparisons of this file have a false-alarm rate of 1e-6 together. Seeds are fixed.
constexpr double far_out = 11.0;
/// Where errors vanish, as at the start, rounding is left.
constexpr double rounding = 1e-12;

std::unique_ptr<SequenceModel> attention(int layers) {
  DeepAttention model;
  model.layers = layers;
  return attention_model(model);
}

EvolutionOptions from(std::vector<double> start, int iterations) {
  EvolutionOptions options;
  options.tolerance = 1.0;  // the fewest points: errors are what comparisons are made with
  options.error_points = 256;
  options.start = std::move(start);
  options.iterations = iterations;
  return options;
}

TEST(SmiEvolution, OneLayerFollowsTheMapThatATrapezoidRuleGives) {
  const auto model = attention(1);
  for (const double alpha : {0.25, 0.7}) {
    const EvolvedOverlaps found = evolve(*model, alpha, from({0.01}, 12), {});
    ASSERT_EQ(found.points.size(), 13u);
    double v = 0.99;
    for (const EvolutionPoint& p : found.points) {
      EXPECT_NEAR(p.overlap[0].value, 1.0 - v, far_out * p.overlap[0].error + rounding)
          << "alpha " << alpha << ", iteration " << p.iteration;
      EXPECT_NEAR(p.cosine[0].value, std::sqrt(1.0 - v), far_out * p.cosine[0].error + rounding);
      v = 1.0 / (1.0 + alpha * testing::one_layer_gain(2, v) / v);
    }
  }
}

TEST(SmiEvolution, TwoLayersEndAtTheFixedPointOfTheCurve) {
  const auto model = attention(2);
  // The last layer is learned from 0.185 on, the first one from 0.72 on. From 1e-3 the overlap
  // grows by 0.35 / 0.185 in an iteration, and its distance from the end shrinks by a factor of two
  // or so: 30 iterations leave less than 1e-3 of it.
  const EvolvedOverlaps found = evolve(*model, 0.35, from({1e-3, 1e-3}, 30), {});
  constexpr double left = 1e-3;
  CurveOptions options;
  options.tolerance = 0.05;
  options.max_points = 1024;
  const double alphas[] = {0.35};
  const CurvePoint end = bayes_curve(*model, alphas, options, {}).points.front();
  const EvolutionPoint& last = found.points.back();
  EXPECT_NEAR(last.overlap[0].value, 1e-3, rounding);  // chance keeps it from falling further
  EXPECT_NEAR(last.overlap[1].value, end.overlap[1].value,
              far_out * std::hypot(last.overlap[1].error, end.overlap[1].error) + left);
  EXPECT_NEAR(last.error_bayes.value, end.error_bayes.value,
              far_out * std::hypot(last.error_bayes.error, end.error_bayes.error) + left);
}

TEST(SmiEvolution, TheLastLayerIsLearnedFirstAndBothAreRecovered) {
  const EvolvedOverlaps found = evolve(*attention(2), 1.5, from({1e-3, 1e-3}, 40), {});
  int first[2] = {0, 0};
  for (const EvolutionPoint& p : found.points) {
    for (std::size_t l = 0; l < 2; ++l) {
      if (first[l] == 0 && p.overlap[l].value > 0.5) first[l] = p.iteration;
    }
  }
  EXPECT_GT(first[1], 0);
  EXPECT_GT(first[0], first[1]);
  const EvolutionPoint& last = found.points.back();
  // V falls by L / (M alpha) = 2/3 in an iteration, or faster.
  for (const Estimate& q : last.overlap) EXPECT_GT(q.value, 0.999);
  EXPECT_LT(last.error_bayes.value, 1e-2);
  EXPECT_LE(last.error_bayes.value,
            last.error_plugin.value + far_out * last.error_plugin.error + rounding);
}

TEST(SmiEvolution, NothingGrowsBelowTheThreshold) {
  const EvolvedOverlaps found = evolve(*link_model("square"), 0.4, from({0.05}, 60), {});
  for (std::size_t t = 1; t < found.points.size(); ++t) {
    EXPECT_LE(found.points[t].overlap[0].value, found.points[t - 1].overlap[0].value + rounding);
  }
  EXPECT_NEAR(found.points.back().overlap[0].value, 1e-3, rounding);
}

TEST(SmiEvolution, IsTheSameForAnyNumberOfThreads) {
  Context two;
  two.threads = 2;
  const EvolutionOptions options = from({0.1, 0.1}, 3);
  const auto model = attention(2);
  const EvolvedOverlaps a = evolve(*model, 1.0, options, {});
  const EvolvedOverlaps b = evolve(*model, 1.0, options, two);
  for (std::size_t t = 0; t < a.points.size(); ++t) {
    for (std::size_t l = 0; l < 2; ++l) {
      EXPECT_EQ(a.points[t].overlap[l].value, b.points[t].overlap[l].value);
      EXPECT_EQ(a.points[t].overlap[l].error, b.points[t].overlap[l].error);
    }
    EXPECT_EQ(a.points[t].error_plugin.value, b.points[t].error_plugin.value);
  }
}

TEST(SmiEvolution, WrongOptionsAreNamed) {
  EXPECT_THROW((void)evolve(*attention(2), 1.0, from({0.1}, 3), {}), InvalidArgument);
  EXPECT_THROW((void)evolve(*attention(1), 1.0, from({1.0}, 3), {}), InvalidArgument);
  EXPECT_THROW((void)evolve(*attention(1), -1.0, from({0.1}, 3), {}), InvalidArgument);
}

}  // namespace
}  // namespace onset::smi
