#include "smi/learners/planted_start.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/limits/evolution.hpp"
#include "smi/model/attention_model.hpp"
#include "smi/model/untied/untied_attention.hpp"

namespace onset::smi {
namespace {

constexpr std::uint64_t runs = 16;
/// The errors of means over 16 runs have Student's factor; beyond nine of them is a chance of 2e-7,
/// for some 30 comparisons. Seeds are fixed.
constexpr double many_errors = 9.0;
/// Means over runs are off by terms of order 1/D, which state evolution does not have.
constexpr double few_over_dimension = 3.0;

std::unique_ptr<SequenceModel> attention(int layers, int tokens = 2, std::vector<int> rank = {1}) {
  DeepAttention model;
  model.layers = layers;
  model.tokens = tokens;
  model.rank = std::move(rank);
  return attention_model(model);
}

/// Nodes of inner integrals, and outer points of state evolution.
struct Accuracy {
  int nodes = MessagePassingOptions{}.nodes;
  int theory_nodes = EvolutionOptions{}.nodes;
  std::size_t theory_points = EvolutionOptions{}.max_points;
};

/// Cosines of message passing from a planted start against state evolution, iteration by
/// iteration.
void compare(const SequenceModel& model, double alpha, double overlap, std::size_t dim,
             int iterations, const Accuracy& accuracy = {}) {
  const std::size_t blocks = model.shape().blocks();
  const auto samples = static_cast<std::size_t>(std::lround(alpha * static_cast<double>(dim)));
  MessagePassingOptions options;
  options.max_iterations = iterations;
  options.restarts = 0;
  options.nodes = accuracy.nodes;
  std::vector<MessagePassing> found;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const Dataset data = draw_dataset(model, dim, samples, 5, run, {});
    const MessageStart start = planted_start(data, overlap, 5, run);
    found.push_back(message_passing(model, data, options, run, {}, &start));
  }
  EvolutionOptions theory;
  theory.start.assign(blocks, overlap);
  theory.iterations = iterations;
  theory.chance = 1.0 / static_cast<double>(dim);
  theory.nodes = accuracy.theory_nodes;
  theory.max_points = accuracy.theory_points;
  const EvolvedOverlaps expected = evolve(model, alpha, theory, {});
  for (std::size_t t = 0; t <= static_cast<std::size_t>(iterations); ++t) {
    for (std::size_t l = 0; l < blocks; ++l) {
      std::vector<double> cosines;
      for (const MessagePassing& run : found) {
        if (t < run.steps.size()) cosines.push_back(run.steps[t].block[l].cosine);
      }
      ASSERT_GT(cosines.size(), runs / 2);
      const Estimate mean = numerics::mean_over_runs(cosines);
      const Estimate& cosine = expected.points[t].cosine[l];
      EXPECT_NEAR(mean.value, cosine.value,
                  many_errors * std::hypot(mean.error, cosine.error) +
                      few_over_dimension / static_cast<double>(dim))
          << "block " << l + 1 << ", iteration " << t;
    }
  }
}

TEST(SmiPlantedStart, OneLayerFollowsStateEvolutionInTime) {
  compare(*attention(1), 0.4, 0.1, 600, 6);
}

TEST(SmiPlantedStart, TwoLayersFollowStateEvolutionInTime) {
  compare(*attention(2), 1.2, 0.2, 300, 4);
}

TEST(SmiPlantedStart, TwoDirectionsOfOneLayerFollowStateEvolutionInTime) {
  compare(*attention(1, 3, {2}), 0.3, 0.2, 600, 6);
  compare(*attention(1, 2, {2}), 0.7, 0.2, 600, 6);
}

TEST(SmiPlantedStart, TwoDirectionsOfAnInnerLayerFollowStateEvolutionInTime) {
  compare(*attention(2, 2, {2, 1}), 1.4, 0.3, 300, 4, {64, 64, 512});
}

TEST(LongSmiPlantedStart, TwoDirectionsOfTheLastOfTwoLayersFollowStateEvolutionInTime) {
  compare(*attention(2, 3, {1, 2}), 0.8, 0.3, 200, 3, {64, 64, 256});
  compare(*attention(2, 2, {2, 2}), 2.0, 0.3, 100, 3, {64, 64, 256});
}

TEST(SmiPlantedStart, QueriesAndKeysOfTheirOwnFollowStateEvolutionInTime) {
  compare(*untied_model({}), 0.8, 0.2, 600, 5);
}

TEST(SmiPlantedStart, HasTheOverlapAndTheNormOfTheNishimoriLine) {
  const auto model = attention(1);
  const Dataset data = draw_dataset(*model, 10000, 10, 1, 0, {});
  const MessageStart start = planted_start(data, 0.3, 1, 0);
  double norm = 0.0, overlap = 0.0;
  for (std::size_t i = 0; i < data.dimension; ++i) {
    norm += start.weights[i] * start.weights[i] / 1e4;
    overlap += start.weights[i] * data.teacher[i] / 1e4;
  }
  // Five standard deviations, sqrt(2 / D) and less.
  constexpr double chance = 0.07;
  EXPECT_NEAR(norm, 0.3, chance * 0.3);
  EXPECT_NEAR(overlap, 0.3, chance);
  EXPECT_EQ(start.variance.front(), 0.7);
}

TEST(SmiPlantedStart, NeedsATeacher) {
  Dataset data;
  data.dimension = 4;
  EXPECT_THROW((void)planted_start(data, 0.3, 1, 0), InvalidArgument);
}

}  // namespace
}  // namespace onset::smi
