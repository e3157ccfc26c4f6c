#include "smi/model/posterior/sampled_posterior.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "onset/core/error.hpp"
#include "onset/testing/check_model.hpp"
#include "smi/model/attention_model.hpp"
#include "smi/model/posterior/one_layer_posterior.hpp"
#include "support/contexts.hpp"
#include "support/tolerances.hpp"
#include "unit/smi/model/posterior/posterior_cases.hpp"

namespace onset::smi {
namespace {

/// Twice to four times the errors of 1024 nodes, 2e-3 to 1e-2; a wrong weight shows as 0.05.
constexpr double of_1024_nodes = 0.01;
/// The errors of 4096 nodes are some 1e-3; five to ten of them.
constexpr double evidence_of_4096_nodes = 0.01;
/// Means scatter by a few times as much as the evidence.
constexpr double mean_of_4096_nodes = 0.03;

using posterior_cases::Samples;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

DeepAttention deep(int layers, int tokens) {
  DeepAttention model;
  model.layers = layers;
  model.tokens = tokens;
  return model;
}

PosteriorMoments moments_of(const Posterior& posterior, const DeepAttention& model,
                            const PosteriorQuery& query) {
  PosteriorMoments moments(model.shape(), query.count);
  posterior.moments(query, moments);
  return moments;
}

TEST(SampledPosterior, OfOneLayerIsTheSumOverSigns) {
  const DeepAttention model = deep(1, 4);
  const Samples samples(model, {0.2}, 50, 1);
  const PosteriorQuery query{samples.count, samples.label, samples.omega, samples.variance};
  const auto sampled = moments_of(SampledPosterior(model, {}), model, query);
  const auto summed = moments_of(OneLayerPosterior(4), model, query);
  EXPECT_TRUE(SampledPosterior(model, {}).exact());
  for (int h = 0; h < 2; ++h) {
    for (std::size_t i = 0; i < samples.count; ++i) {
      EXPECT_NEAR(sampled.half[h].log_z[i], summed.half[h].log_z[i],
                  tolerance::magnified_roundings);
    }
    for (std::size_t k = 0; k < summed.half[h].mean.size(); ++k) {
      EXPECT_NEAR(sampled.half[h].mean[k], summed.half[h].mean[k], tolerance::many_roundings);
    }
    for (std::size_t k = 0; k < summed.half[h].second.size(); ++k) {
      EXPECT_NEAR(sampled.half[h].second[k], summed.half[h].second[k],
                  tolerance::magnified_roundings);
    }
  }
}

struct OracleErrors {
  double mean;      // root mean square error of <zeta>, over samples, layers and tokens
  double evidence;  // mean error of log Z: what a wrong share of a proposal would shift
};

/// Against the trapezoid rule.
OracleErrors errors_against_oracle(const DeepAttention& model, const std::vector<double>& variance,
                                   bool planted) {
  const Samples samples(model, variance, 40, 7);
  PosteriorQuery query{samples.count, samples.label, samples.omega, samples.variance};
  if (planted) query.centre = samples.field;
  const auto moments = moments_of(SampledPosterior(model, {1024, 1}), model, query);
  const std::size_t n = samples.count;
  double sum = 0.0;
  double evidence = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto omega = [&](std::size_t row) { return samples.omega[row * n + i]; };
    const brute_force::Question question{model.skip[0],
                                         model.beta,
                                         {samples.label[i], samples.label[n + i]},
                                         {{{omega(0), omega(1)}, {omega(2), omega(3)}}},
                                         {variance[0], variance[1]}};
    const brute_force::Answer truth = brute_force::solve(question);
    evidence += moments.half[0].log_z[i] - truth.log_z;
    for (std::size_t row = 0; row < 4; ++row) {
      const double error = moments.half[0].mean[row * n + i] - truth.mean[row / 2][row % 2];
      sum += error * error;
    }
  }
  const auto samples_count = static_cast<double>(n);
  return {std::sqrt(sum / (4.0 * samples_count)), evidence / samples_count};
}

TEST(SampledPosterior, AgreesWithTheTrapezoidRule) {
  // Twice to four times the errors of 1024 nodes seen in trials: 2e-3 to 1e-2. A wrong weight,
  // Jacobian or mixture shows as 0.05 and more.
  for (const auto& variance : {std::vector{0.9, 0.5}, std::vector{0.5, 0.05},
                               std::vector{0.05, 0.01}, std::vector{0.01, 0.01}}) {
    for (const bool planted : {true, false}) {
      const OracleErrors errors = errors_against_oracle(deep(2, 2), variance, planted);
      EXPECT_LT(errors.mean, 0.02) << variance[1];
      EXPECT_NEAR(errors.evidence, 0.0, of_1024_nodes) << variance[1];
    }
  }
}

TEST(SampledPosterior, WithoutNoiseIsTheLimitOfLittleNoise) {
  DeepAttention model = deep(2, 3);
  const Samples samples(model, {0.4, 0.3}, 30, 3);
  PosteriorQuery query{samples.count, samples.label, samples.omega, samples.variance};
  query.centre = samples.field;
  // The two use other proposals, so that they agree within the errors of 4096 nodes only: some
  // 1e-3.
  const auto without = moments_of(SampledPosterior(model, {4096, 1}), model, query);
  model.noise = 1e-6;
  const auto with = moments_of(SampledPosterior(model, {4096, 1}), model, query);
  for (std::size_t i = 0; i < samples.count; ++i) {
    EXPECT_NEAR(with.half[0].log_z[i], without.half[0].log_z[i], evidence_of_4096_nodes);
  }
  for (std::size_t k = 0; k < with.half[0].mean.size(); ++k) {
    EXPECT_NEAR(with.half[0].mean[k], without.half[0].mean[k], mean_of_4096_nodes);
  }
}

/// Correlated tokens are the same model in other coordinates: fields R z with independent ones z.
TEST(SampledPosterior, OfCorrelatedTokensIsTheWhitenedOne) {
  DeepAttention model = deep(1, 2);
  model.token_covariance = {1.0, 0.6, 0.6, 1.0};
  const Samples samples(model, {0.3}, 30, 5);
  const std::size_t n = samples.count;
  // One layer: u = R z, so the label of the model without correlation is z = R^{-1} u.
  std::vector<double> white(samples.label);
  const double lower = std::sqrt(1.0 - 0.36);
  for (std::size_t i = 0; i < n; ++i) {
    white[n + i] = (samples.label[n + i] - 0.6 * samples.label[i]) / lower;
  }
  const PosteriorQuery query{n, samples.label, samples.omega, samples.variance};
  const PosteriorQuery white_query{n, white, samples.omega, samples.variance};
  const auto correlated = moments_of(SampledPosterior(model, {}), model, query);
  const auto independent = moments_of(OneLayerPosterior(2), deep(1, 2), white_query);
  for (std::size_t k = 0; k < correlated.half[0].mean.size(); ++k) {
    EXPECT_NEAR(correlated.half[0].mean[k], independent.half[0].mean[k],
                tolerance::magnified_roundings);
  }
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_NEAR(correlated.half[0].log_z[i], independent.half[0].log_z[i] - std::log(lower),
                tolerance::magnified_roundings);
  }
}

void expect_consistent(const DeepAttention& model, const std::string& what) {
  testing::ModelCheckOptions options;  // a false alarm in a million calls
  const auto checked = attention_model(model);
  if (!checked->posterior({})->exact()) {
    options.points = 64;
    options.replicates = 16;
    options.variances = {1.0, 0.3, 1e-2};
    options.inner_bias = 0.05;
  }
  const testing::ModelReport report =
      testing::check_model(*checked, options, testing::with_threads(2));
  for (const std::string& finding : report.findings) ADD_FAILURE() << what << ": " << finding;
}

TEST(SampledPosterior, WithoutInnerLayersIsConsistent) {
  DeepAttention correlated = deep(1, 3);
  correlated.token_covariance = {1.0, 0.5, 0.25, 0.5, 1.0, 0.5, 0.25, 0.5, 1.0};
  expect_consistent(correlated, "correlated tokens");
  DeepAttention noisy = deep(1, 2);
  noisy.noise = 0.5;
  expect_consistent(noisy, "noise");
  DeepAttention wide = deep(1, 3);
  wide.rank = {2};
  expect_consistent(wide, "rank two");
  DeepAttention pair = deep(1, 2);
  pair.rank = {2};
  expect_consistent(pair, "rank two, two tokens");
  DeepAttention space = deep(1, 4);
  space.rank = {3};
  expect_consistent(space, "rank three");
}

TEST(SampledPosterior, WithInnerLayersIsConsistent) {
  expect_consistent(deep(2, 3), "three tokens");
  DeepAttention noisy = deep(2, 2);
  noisy.noise = 0.3;
  expect_consistent(noisy, "noise");
  DeepAttention wide = deep(2, 3);
  wide.rank = {1, 2};
  expect_consistent(wide, "rank two last");
  DeepAttention pair = deep(2, 2);
  pair.rank = {1, 2};
  expect_consistent(pair, "rank two last, two tokens");
  DeepAttention inner = deep(2, 2);
  inner.rank = {2, 1};
  expect_consistent(inner, "rank two inside");
}

TEST(SampledPosterior, IsFiniteWhereAttentionMatricesAreSingularUpToRounding) {
  DeepAttention model = deep(2, 3);
  model.skip = {0.0};
  for (const double beta : {1.0, 20.0, 1000.0}) {
    model.beta = beta;
    const Samples samples(model, {1.0, 1.0}, 200, 11);
    PosteriorQuery query{samples.count, samples.label, samples.omega, samples.variance};
    query.centre = samples.field;
    const auto moments = moments_of(SampledPosterior(model, {64, 1}), model, query);
    for (const double x : moments.half[0].log_z) EXPECT_TRUE(std::isfinite(x)) << beta;
    for (const double x : moments.half[0].second) EXPECT_TRUE(std::isfinite(x)) << beta;
  }
}

TEST(SampledPosterior, RefusesLastLayersItCannotIntegrate) {
  DeepAttention model = deep(2, 2);
  model.rank = {1, 2};
  model.noise = 0.1;
  EXPECT_THROW(SampledPosterior(model, {}), Refused);
  model = deep(2, 3);
  model.rank = {1, 3};
  EXPECT_THAT(
      [&] { SampledPosterior(model, {}); },
      ThrowsMessage<Refused>(HasSubstr("fixes 5 of 9 numbers per sample and leaves 4 free")));
  model = deep(2, 6);
  model.rank = {1, 4};
  EXPECT_THAT([&] { SampledPosterior(model, {}); },
              ThrowsMessage<Refused>(HasSubstr("fixes 18 of 24 numbers")));
}

}  // namespace
}  // namespace onset::smi
