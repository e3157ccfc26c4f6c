#include "onset/smi/limits/channel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "numerics/quadrature/gaussian_expectation.hpp"
#include "onset/core/error.hpp"
#include "smi/limits/teacher_batch.hpp"
#include "smi/model/attention_model.hpp"
#include "smi/model/links.hpp"
#include "smi/model/uninformed.hpp"
#include "support/channel_comparisons.hpp"
#include "support/contexts.hpp"
#include "support/one_layer_gain.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

ChannelOptions fine(std::size_t points, int nodes) {
  ChannelOptions options;
  options.points = points;
  options.replicates = 32;
  options.nodes = nodes;
  return options;
}

/// Nishimori sides of one layer [smi 15], straight from the posterior.
struct Sides {
  Replicates pair;     // E <zeta>_a . <zeta>_b
  Replicates planted;  // E <zeta> . zeta*
  Replicates norm;     // E <|zeta|^2>: the number of tokens
};

std::vector<Sides> nishimori_sides(const DeepAttention& model, const std::vector<double>& variance,
                                   std::size_t points, int nodes) {
  const auto teacher_model = onset::smi::attention_model(model);
  const auto layers = static_cast<std::size_t>(model.layers);
  const auto tokens = static_cast<std::size_t>(model.tokens);
  const auto posterior = attention_posterior(model, {nodes, 5});
  numerics::ExpectationOptions rule;
  rule.dimensions = teacher_dimensions(*teacher_model);
  rule.outputs = 3 * model.layers;
  rule.points = points;
  rule.replicates = 32;
  rule.seed = 5;
  const auto integrand = [&](const numerics::NormalBatch& normals, std::span<double> out) {
    const std::size_t n = normals.count;
    const TeacherBatch teacher = teacher_batch(*teacher_model, variance, normals);
    PosteriorMoments m(model.shape(), n);
    posterior->moments(
        {n, teacher.label, teacher.omega, variance, normals.first, normals.replicate}, m);
    const std::size_t pairs = m.shape.pairs(0);
    for (std::size_t l = 0; l < layers; ++l) {
      for (std::size_t i = 0; i < n; ++i) {
        double pair = 0.0;
        double planted = 0.0;
        double norm = 0.0;
        for (std::size_t t = 0; t < tokens; ++t) {
          const std::size_t row = (l * tokens + t) * n + i;
          const double a = m.half[0].mean[row];
          const double b = m.half[1].mean[row];
          pair += a * b;
          planted += 0.5 * (a + b) * teacher.zeta[row];
          const std::size_t diagonal = (l * pairs + t * (t + 1) / 2 + t) * n + i;
          norm += 0.5 * (m.half[0].second[diagonal] + m.half[1].second[diagonal]);
        }
        out[(3 * l) * n + i] = teacher.weight[i] * pair;
        out[(3 * l + 1) * n + i] = teacher.weight[i] * planted;
        out[(3 * l + 2) * n + i] = teacher.weight[i] * norm;
      }
    }
  };
  const auto means = numerics::gaussian_expectation(rule, integrand, testing::with_threads(2));
  std::vector<Sides> sides;
  for (std::size_t l = 0; l < layers; ++l) {
    sides.push_back({means[3 * l], means[3 * l + 1], means[3 * l + 2]});
  }
  return sides;
}

TEST(Channel, ItsPosteriorObeysTheNishimoriIdentities) {
  struct Case {
    int layers;
    int tokens;
    double skip;
    std::vector<double> variance;
    int nodes;
  };
  const std::vector<Case> cases = {{1, 3, 1.0, {0.3}, 32},
                                   {2, 2, 1.0, {0.8, 0.3}, 1024},
                                   {2, 2, 0.2, {0.5, 0.05}, 1024},
                                   {3, 2, 0.5, {0.9, 0.6, 0.3}, 1024}};
  for (const Case& c : cases) {
    const DeepAttention model = deep_attention(c.layers, c.tokens, {c.skip});
    const auto sides = nishimori_sides(model, c.variance, c.layers == 1 ? 4096 : 256, c.nodes);
    for (std::size_t l = 0; l < sides.size(); ++l) {
      const std::string what = std::to_string(c.layers) + " layers, layer " + std::to_string(l + 1);
      const Sides& s = sides[l];
      // E a.b = E <zeta>.zeta*, and E <|zeta|^2> = M, which makes M - E tr Cov the same number. The
      // ratio bias of the inner integrals at 1024 nodes is below 1e-3 of a mean of order 1.
      const double bias = c.layers == 1 ? 0.0 : 1e-3;
      expect_zero(minus(s.pair, s.planted), bias, what);
      expect_zero(minus(s.norm, c.tokens), bias, what);
      EXPECT_LT(numerics::reduce(s.pair).error, 0.05) << what;  // so that the above says something
    }
  }
}

TEST(Channel, ItsGainIsThatOfThePosteriorItself) {
  const DeepAttention model = deep_attention(2, 2, {1.0});
  const std::vector<double> variance = {0.8, 0.3};
  const auto info = Channel(model, fine(256, 256)).at(variance, testing::with_threads(2));
  const auto sides = nishimori_sides(model, variance, 256, 1024);
  for (std::size_t l = 0; l < 2; ++l) {
    expect_zero(minus(info.gain[l], sides[l].planted), 2.0 * info.gain_bias[l] + 1e-3,
                "layer " + std::to_string(l + 1));
    EXPECT_TRUE(info.growth[l].empty());
    EXPECT_LT(info.gain_bias[l], 0.01);
  }
}

TEST(Channel, TheGainOfOneLayerIsATwoDimensionalIntegral) {
  for (const int tokens : {2, 3, 4}) {
    const Channel channel(deep_attention(1, tokens, {1.0}), fine(4096, 32));
    for (const double v : {0.9, 0.5, 0.1, 0.01}) {
      const auto info = channel.at(std::vector{v}, testing::with_threads(2));
      const double expected = testing::one_layer_gain(tokens, v);
      const std::string what = std::to_string(tokens) + " tokens, V " + std::to_string(v);
      expect_zero(minus(info.gain[0], expected), 1e-7, what);
      EXPECT_LT(numerics::reduce(info.gain[0]).error, 5e-3 * expected) << what;
      EXPECT_EQ(info.gain_bias[0], 0.0);
    }
  }
}

TEST(Channel, TheGrowthOfOneLayerReachesTheRigorousBound) {
  for (const int tokens : {2, 3, 4}) {
    const Channel channel(deep_attention(1, tokens, {1.0}), fine(4096, 32));
    const auto info = channel.at(std::vector{1.0}, testing::with_threads(2));
    expect_zero(minus(info.growth[0], tokens * (tokens + 1.0)), 1e-12, std::to_string(tokens));
    EXPECT_LT(numerics::reduce(info.growth[0]).error, 0.02 * tokens * (tokens + 1.0));
    EXPECT_EQ(numerics::mean(info.gain[0]), 0.0);
  }
}

TEST(Channel, AtOverlapZeroItAgreesWithThePlaneIntegral) {
  for (const double skip : {0.3, 1.0, 4.0}) {
    const DeepAttention model = deep_attention(2, 2, {skip});
    const auto info =
        Channel(model, fine(512, 256)).at(std::vector{1.0, 1.0}, testing::with_threads(2));
    const Uninformed plane = uninformed_channel(model, {2048, 32, 1}, testing::with_threads(2));
    for (std::size_t l = 0; l < 2; ++l) {
      const std::string what = "skip " + std::to_string(skip) + " layer " + std::to_string(l + 1);
      expect_zero(minus(info.growth[l], plane.growth[l]), 2.0 * info.growth_bias[l], what);
    }
    // The log of an inner estimate of relative variance s^2 is low by s^2 / 2, here below 1e-3.
    expect_zero(minus(info.log_evidence, plane.log_evidence), 1e-3, "evidence");
  }
}

TEST(Channel, FewInnerNodesLeaveLittleBias) {
  // Against sixteen times the nodes: growth of two layers, where 64 nodes are biased by 4 % before
  // the correction [smi 27], and gains of four, of which 64 nodes resolve little.
  const DeepAttention two = deep_attention(2, 2, {1.0});
  const std::vector<double> known = {1.0, 0.01};
  const auto few = Channel(two, fine(1024, 64)).at(known, testing::with_threads(2));
  const auto many = Channel(two, fine(1024, 1024)).at(known, testing::with_threads(2));
  const double growth = numerics::mean(many.growth[0]);
  expect_zero(minus(few.growth[0], many.growth[0]), 5e-3 * growth, "growth");
  EXPECT_GT(few.growth_bias[0], 2.5e-3 * growth);  // a quarter of what was taken off

  const DeepAttention four = deep_attention(4, 2, {1.0});
  const std::vector<double> deep = {0.2, 0.3, 0.5, 0.002};
  const auto coarse = Channel(four, fine(1024, 64)).at(deep, testing::with_threads(2));
  const auto fine_one = Channel(four, fine(1024, 512)).at(deep, testing::with_threads(2));
  for (std::size_t l = 0; l < 3; ++l) {
    expect_zero(minus(coarse.gain[l], fine_one.gain[l]), 5e-3, "gain " + std::to_string(l + 1));
  }
  EXPECT_LT(std::abs(numerics::mean(coarse.gain[3]) / numerics::mean(fine_one.gain[3]) - 1.0),
            0.25);
}

TEST(Channel, TheGainIsTheSlopeOfTheEvidence) {
  // dPsi / da_l = r_l / 2 with a_l = -log V_l, that is dPsi / dQ_l = r_l / (2 V_l) [smi 23]. Along
  // a straight path in a, integrated by the three-point Gauss rule: no finite differences.
  const DeepAttention model = deep_attention(2, 2, {1.0});
  const Channel channel(model, fine(256, 512));
  const double start[2] = {0.8, 2.0};
  const double length = 0.8;
  const double nodes[3] = {0.5 - 0.5 * std::sqrt(0.6), 0.5, 0.5 + 0.5 * std::sqrt(0.6)};
  const double weights[3] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};
  for (std::size_t l = 0; l < 2; ++l) {
    const auto at = [&](double fraction) {
      double a[2] = {start[0], start[1]};
      a[l] += length * fraction;
      return channel.at(std::vector{std::exp(-a[0]), std::exp(-a[1])}, testing::with_threads(2));
    };
    const Replicates rise = minus(at(1.0).log_evidence, at(0.0).log_evidence);
    Replicates integral(rise.size(), 0.0);
    double bias = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto info = at(nodes[k]);
      bias += 0.5 * length * weights[k] * 2.0 * info.gain_bias[l];
      for (std::size_t r = 0; r < rise.size(); ++r) {
        integral[r] += 0.5 * length * weights[k] * info.gain[l][r];
      }
    }
    expect_zero(minus(rise, integral), bias + 2e-4, "layer " + std::to_string(l + 1));
    const Estimate size = numerics::reduce(integral);
    EXPECT_LT(numerics::reduce(minus(rise, integral)).error, 0.05 * size.value);
  }
}

TEST(Channel, NearPerfectRecoveryTheGainsAddUpToTheTokens) {
  // Counting [smi 21]: the linearised label fixes M combinations of the L M fields.
  const DeepAttention model = deep_attention(2, 2, {1.0});
  const auto info =
      Channel(model, fine(256, 256)).at(std::vector{1e-7, 1e-7}, testing::with_threads(2));
  Replicates total(info.gain[0].size());
  for (std::size_t r = 0; r < total.size(); ++r) total[r] = info.gain[0][r] + info.gain[1][r];
  expect_zero(minus(total, 2.0), info.gain_bias[0] + info.gain_bias[1] + 1e-3, "sum of gains");
}

TEST(Channel, GivesTheSameBitsForAnyNumberOfThreads) {
  ChannelOptions options;
  options.points = 512;
  options.replicates = 3;
  options.nodes = 32;
  const Channel channel(deep_attention(2, 2, {0.7}), options);
  Context context;
  const auto expected = channel.at(std::vector{1.0, 0.4}, context);
  for (const int threads : {2, 3, 8}) {
    context.threads = threads;
    const auto info = channel.at(std::vector{1.0, 0.4}, context);
    EXPECT_EQ(info.gain, expected.gain);
    EXPECT_EQ(info.growth, expected.growth);
    EXPECT_EQ(info.log_evidence, expected.log_evidence);
    EXPECT_EQ(info.gain_bias, expected.gain_bias);
    EXPECT_EQ(info.growth_bias, expected.growth_bias);
  }
}

TEST(Channel, NamesTheFieldThatIsWrong) {
  const auto field = [](auto change) {
    ChannelOptions options;
    change(options);
    try {
      options.validate();
    } catch (const InvalidArgument& error) {
      return error.field();
    }
    return std::string("none");
  };
  EXPECT_EQ(field([](auto&) {}), "none");
  EXPECT_EQ(field([](auto& o) { o.points = 1000; }), "points");
  EXPECT_EQ(field([](auto& o) { o.replicates = 1; }), "replicates");
  EXPECT_EQ(field([](auto& o) { o.nodes = 100; }), "nodes");

  ChannelOptions small;
  small.points = 16;
  small.replicates = 2;
  small.nodes = 32;
  const Channel channel(deep_attention(2, 2, {1.0}), small);
  for (const auto& bad : {std::vector{0.5}, std::vector{0.5, 0.0}, std::vector{1.1, 0.5},
                          std::vector{std::numeric_limits<double>::quiet_NaN(), 0.5}}) {
    EXPECT_THROW((void)channel.at(bad, Context()), InvalidArgument);
  }
}

// The second block's moments say nothing at overlap 0: its control is zero but for rounding, which
// once passed for a control and moved the first block's growth rate by a percent. 1/0.575166343 is
// the integral over the label.
TEST(SmiChannel, ABlockOfWhichNothingIsSeenDoesNotDisturbOthers) {
  const auto model = link_model("staircase");
  const ChannelInformation info = Channel(*model, {.points = 4096}).at(std::vector{1.0, 1.0}, {});
  const Estimate growth = numerics::reduce(info.growth[0], info.growth_bias[0]);
  // Eight errors of 16 replicates: a false alarm is rarer than 1e-6.
  EXPECT_NEAR(growth.value, 1.0 / 0.575166343, 8.0 * growth.error);
  EXPECT_LT(growth.error, 0.003 * growth.value);
}

}  // namespace
}  // namespace onset::smi
