#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "onset/smi/limits/staircase.hpp"
#include "smi/limits/curve.hpp"
#include "smi/limits/potential.hpp"
#include "smi/model/attention_model.hpp"
#include "smi/model/links.hpp"
#include "support/contexts.hpp"

namespace onset::smi {
namespace {

/// Traces that end elsewhere have other points, and are interpolated between them.
constexpr double between_the_points_of_a_trace = 1e-4;

using testing::with_threads;

/// Standard errors of a replicate mean (15 degrees of freedom) with a false-alarm rate near 1e-6.
constexpr double far_out = 8.0;

using Blocks = std::vector<std::size_t>;

Staircase of_link(const char* name) {
  StaircaseOptions options;
  options.tolerance = 2e-3;
  return staircase(*link_model(name), options, with_threads(2));
}

void expect_near(const Estimate& estimate, double truth, const char* what) {
  EXPECT_NEAR(estimate.value, truth, far_out * estimate.error) << what;
}

TEST(ModelStaircase, PhaseRetrievalHasItsHardPhase) {
  const Staircase s = of_link("square");
  ASSERT_EQ(s.steps.size(), 1u);
  expect_near(s.steps[0].alpha, 0.5, "weak recovery");
  EXPECT_EQ(s.perfect, 1.0);
  EXPECT_TRUE(s.hard_phase);
  expect_near(s.algorithmic, 1.1285, "algorithmic threshold");
  EXPECT_LT(s.algorithmic.error, 2e-3);
}

TEST(ModelStaircase, KnownThresholdsOfLinks) {
  const Staircase parity = of_link("sign-product");
  ASSERT_EQ(parity.steps.size(), 1u);
  expect_near(parity.steps[0].alpha, std::numbers::pi * std::numbers::pi / 4.0, "sign-product");
  EXPECT_FALSE(parity.perfect.has_value());
  const Staircase attention = of_link("attention");
  expect_near(attention.steps[0].alpha, 1.0 / 6.0, "attention");
  const Staircase linear = of_link("linear");
  EXPECT_TRUE(linear.steps[0].trivial);
  EXPECT_EQ(linear.perfect, 1.0);
  EXPECT_EQ(of_link("relu").perfect, 2.0);
}

TEST(ModelStaircase, RankTwoAndTwoTokensLeaveTheScoresConstantOpen) {
  DeepAttention model;
  model.layers = 1;
  model.tokens = 2;
  model.rank = {2};
  StaircaseOptions options;
  options.tolerance = 2e-3;
  const Staircase s = staircase(*attention_model(model), options, with_threads(2));
  ASSERT_EQ(s.steps.size(), 1u);
  expect_near(s.steps[0].alpha, 2.0 / 5.0, "closed form of [smi 36]");
  EXPECT_EQ(s.perfect, 1.0);
  expect_near(s.contraction, 1.0, "counting");
}

TEST(ModelStaircase, StagesThatBeginFurtherOnAreNotFollowed) {
  const auto model = link_model("committee");
  StaircaseOptions options;
  options.tolerance = 0.1;
  options.root_points = options.trace_points = 64;
  const Staircase whole = staircase(*model, options, {});
  ASSERT_EQ(whole.steps.size(), 2U);
  const double second = whole.steps[1].alpha.value;
  options.alpha_stop = 0.8 * second;
  const Staircase part = staircase(*model, options, {});
  ASSERT_EQ(part.steps.size(), 1U);
  EXPECT_TRUE(part.hard.empty());
  for (const double alpha : {0.3 * second, 0.8 * second}) {
    const auto given = whole.steps[0].branch.stable_points(0, std::log(alpha));
    const auto found = part.steps[0].branch.stable_points(0, std::log(alpha));
    ASSERT_EQ(found.size(), 1U);
    ASSERT_EQ(given.size(), 1U);
    EXPECT_NEAR(found[0].log_precision[0], given[0].log_precision[0],
                between_the_points_of_a_trace);
  }
}

TEST(ModelStaircase, ParityOfThreeIsHard) {
  const Staircase s = of_link("parity3");
  EXPECT_TRUE(s.steps.empty());
  EXPECT_EQ(s.hard, Blocks{0});
}

TEST(ModelStaircase, FixedPointsNotConnectedToOverlapZeroAreNotClaimed) {
  CurveOptions options;
  options.choice = BranchChoice::optimal;
  const BayesCurve curve =
      bayes_curve(*link_model("parity3"), std::vector{20.0}, options, with_threads(2));
  EXPECT_FALSE(curve.points[0].status.converged());
}

TEST(ModelStaircase, BlocksAreLearnedGivenOthersThatAreRecoveredExactly) {
  // y = z1^2 + sign(z1 z2 z3): once z1 is known, what is left is the sign of a product.
  const Staircase s = of_link("staircase");
  ASSERT_EQ(s.steps.size(), 2u);
  EXPECT_EQ(s.steps[0].blocks, Blocks{0});
  EXPECT_EQ(s.steps[1].blocks, Blocks{1});
  expect_near(s.steps[1].alpha, std::numbers::pi * std::numbers::pi / 4.0, "second stage");
}

TEST(ModelStaircase, LinearRegressionFollowsItsClosedForm) {
  const std::vector<double> alphas{0.2, 0.5, 0.9, 1.1};
  const BayesCurve curve = bayes_curve(*link_model("linear"), alphas, {}, with_threads(2));
  for (const CurvePoint& point : curve.points) {
    EXPECT_NEAR(point.overlap[0].value, std::min(point.alpha, 1.0),
                far_out * point.overlap[0].error + 1e-6);
    EXPECT_TRUE(point.status.converged());
  }
}

TEST(ModelStaircase, RankTwoInTheOnlyLayer) {
  DeepAttention model;
  model.layers = 1;
  model.tokens = 3;
  model.rank = {2};
  StaircaseOptions options;
  options.tolerance = 2e-3;
  const Staircase s = staircase(*attention_model(model), options, with_threads(2));
  expect_near(s.steps[0].alpha, 2.0 / 12.0, "rank / (M (M + 1))");
  EXPECT_DOUBLE_EQ(s.perfect.value(), 2.0 / 5.0);
  expect_near(s.contraction, 2.0 / 5.0, "contraction");
}

TEST(ModelStaircase, OneLayerDoesNotFeelTokenCorrelations) {
  DeepAttention model;
  model.layers = 1;
  model.token_covariance = {1.0, 0.7, 0.7, 1.0};
  StaircaseOptions options;
  options.tolerance = 2e-3;
  const Staircase s = staircase(*attention_model(model), options, with_threads(2));
  expect_near(s.steps[0].alpha, 1.0 / 6.0, "1 / (M (M + 1))");
  EXPECT_DOUBLE_EQ(s.perfect.value(), 0.5);
}

TEST(LongModelStaircase, ThreeLayersAreLearnedLastFirstSecond) {
  DeepAttention model;
  model.layers = 3;
  StaircaseOptions options;
  options.tolerance = 2e-2;
  options.root_points = 512;
  options.trace_points = 128;
  const Staircase s = staircase(*attention_model(model), options, with_threads(2));
  ASSERT_EQ(s.steps.size(), 3u);
  EXPECT_EQ(s.steps[0].blocks, Blocks{2});
  EXPECT_EQ(s.steps[1].blocks, Blocks{0});
  EXPECT_EQ(s.steps[2].blocks, Blocks{1});
  EXPECT_GT(s.steps[0].alpha.value, 1.0 / 6.0);
  EXPECT_LT(s.steps[1].alpha.value, s.steps[2].alpha.value);
  EXPECT_LT(s.steps[2].alpha.value, 1.5);
  EXPECT_EQ(s.perfect, 1.5);
  expect_near(s.contraction, 1.5, "counting");
}

TEST(Potential, IsStationaryWhereStateEvolutionStops) {
  const auto model = link_model("square");
  ChannelOptions rule;
  rule.points = 4096;
  const Channel channel(*model, rule);
  // At alpha = 0.9 the uninformed fixed point is the maximum: Phi falls on both sides of it.
  const BayesCurve curve = bayes_curve(*model, std::vector{0.9}, {}, with_threads(2));
  const double q = curve.points[0].overlap[0].value;
  const OverlapGrid grid{{{0.0, q - 0.1, q, q + 0.1}}, false};
  const auto phi = potential(channel, grid, std::vector{0.9}, with_threads(2)).at(0);
  EXPECT_EQ(phi[2].maximum, Maximum::global);
  EXPECT_EQ(phi[0].maximum, Maximum::none);
  // Phi of the curve is the same number, got by integrating along the branch.
  EXPECT_NEAR(phi[2].free_entropy.value, curve.points[0].free_entropy.value,
              far_out * std::hypot(phi[2].free_entropy.error, curve.points[0].free_entropy.error));
}

}  // namespace
}  // namespace onset::smi
