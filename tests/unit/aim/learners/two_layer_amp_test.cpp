#include "aim/learners/two_layer_amp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "aim/limits/two_layer_curve.hpp"
#include "onset/numerics/replicates.hpp"
#include "support/scale.hpp"
#include "support/tolerances.hpp"

namespace onset::aim {
namespace {

AttentionIndexed network() {
  AttentionIndexed model;
  model.prior = PriorKind::wigner;
  model.layers = 2;
  return model;
}

TEST(TwoLayerData, HaveMatricesAndLabelsOfTheModel) {
  const std::size_t dim = 40;
  const AttentionIndexed model = network();
  const TwoLayerData data = sample_two_layers(model, dim, 300, {}, {});
  ASSERT_EQ(data.shown.size(), 300u);
  for (const auto& s : data.truth) {
    double square = 0.0;
    for (std::size_t i = 0; i < dim; ++i) {
      for (std::size_t j = 0; j < dim; ++j) {
        EXPECT_EQ(s[i * dim + j], s[j * dim + i]);
        square += s[i * dim + j] * s[i * dim + j];
      }
    }
    // Tr S^2/d has the mean 1 + 1/d and the deviation 2/d.
    constexpr double deviations = 6.0;
    EXPECT_NEAR(square / dim, 1.0 + 1.0 / dim, deviations * 2.0 / dim);
  }
  // One label by hand.
  const std::size_t sample = 7;
  std::array<std::array<double, 3>, 2> h{};
  const double* x = data.tokens.inputs.data() + sample * 2 * dim;
  for (std::size_t l = 0; l < 2; ++l) {
    double trace = 0.0;
    for (std::size_t i = 0; i < dim; ++i) trace += data.truth[l][i * dim + i];
    const auto score = [&](std::size_t a, std::size_t b) {
      double sum = a == b ? -trace : 0.0;
      for (std::size_t i = 0; i < dim; ++i) {
        for (std::size_t j = 0; j < dim; ++j) {
          sum += x[a * dim + i] * data.truth[l][i * dim + j] * x[b * dim + j];
        }
      }
      return sum / std::sqrt(static_cast<double>(dim));
    };
    h[l] = {score(0, 0), score(0, 1), score(1, 1)};
  }
  const PairFields t =
      TwoLayers{model.beta, model.skip}.shown(fields_of(h[0].data()), fields_of(h[1].data()));
  EXPECT_NEAR(t[0], data.shown[sample][0], tolerance::many_roundings);
  EXPECT_NEAR(t[1], data.shown[sample][1], tolerance::many_roundings);
}

/// Message passing on drawn data against state evolution: the proof that both are right. At size d
/// the limit is corrected as counting says [aim 36], and what is left of order 1/d is allowed for.
TEST(LongTwoLayerAmp, ReachesTheErrorOfStateEvolution) {
  const std::size_t dim = 60;
  const auto d = static_cast<double>(dim);
  const auto runs = static_cast<std::uint64_t>(std::max(4, testing::scaled(4)));
  for (const double alpha : {0.15, 0.3}) {
    const double counted = alpha * d / (d + 1.0);
    const TwoLayerPoint theory = two_layer_curve(network(), std::vector{counted}, 1, {})[0];
    std::array<std::vector<double>, 2> mse;
    std::array<std::vector<double>, 2> variance;
    for (std::uint64_t run = 0; run < runs; ++run) {
      const TwoLayerData data =
          sample_two_layers(network(), dim, samples_of(alpha, dim), {.index = run}, {});
      const TwoLayerRun found = two_layer_message_passing(network(), data, {}, {});
      ASSERT_TRUE(found.status.converged()) << alpha << " " << run;
      for (std::size_t l = 0; l < 2; ++l) {
        mse[l].push_back(found.steps.back()[l].mse);
        variance[l].push_back(found.steps.back()[l].variance);
      }
    }
    for (std::size_t l = 0; l < 2; ++l) {
      const Estimate mean = numerics::mean_over_runs(mse[l]);
      const double expected = (1.0 + 1.0 / d) * theory.mmse[l].value;
      // Four runs: six of their own errors, which have Student's factor, are exceeded once in 300
      // for a normal of unknown scatter; the allowance for finite size makes that far less.
      constexpr double errors = 6.0;
      constexpr double finite_size = 1.0;
      EXPECT_NEAR(mean.value, expected,
                  errors * std::hypot(mean.error, theory.mmse[l].error) + finite_size / d)
          << alpha << " layer " << l + 1;
      EXPECT_NEAR(numerics::mean_over_runs(variance[l]).value, mean.value,
                  errors * mean.error + finite_size / d);
    }
  }
}

TEST(TwoLayerAmp, IsTheSameForAnyNumberOfThreads) {
  const TwoLayerData data = sample_two_layers(network(), 24, 150, {}, {});
  Context three;
  three.threads = 3;
  TwoLayerOptions few;
  few.amp.max_iterations = 4;
  const TwoLayerRun one = two_layer_message_passing(network(), data, few, {});
  const TwoLayerRun other = two_layer_message_passing(network(), data, few, three);
  EXPECT_EQ(one.estimate[0], other.estimate[0]);
  EXPECT_EQ(one.estimate[1], other.estimate[1]);
}

}  // namespace
}  // namespace onset::aim
