#include "mha/model/visibility.hpp"

#include <gtest/gtest.h>

#include "mha/learners/six_phases.hpp"
#include "mha/model/instance.hpp"
#include "onset/mha.hpp"

namespace onset::mha {
namespace {

InstanceLaw two_heads() {
  InstanceLaw law;
  law.heads = 2;
  law.dim = 8;
  law.tokens = 2;
  law.scale = 3.0;
  return law;
}

/// The verdict of the six phases, which know nothing of the prediction.
std::string verdict_at(double examples, std::uint64_t seed) {
  Trial trial;
  trial.samples = static_cast<std::int64_t>(examples);
  trial.seed = seed;
  for (const auto& [name, value] : trial.run().summary) {
    if (name == "verdict") return std::get<std::string>(value);
  }
  return "";
}

TEST(MhaVisibility, TheLearnerCertifiesAtTwiceThePredictedNumberAndNotAtAQuarter) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Layer layer = draw_layer(two_heads(), seed);
    const ExamplesNeeded need = examples_needed(layer, 2, Inputs::boolean, seed, {});
    ASSERT_TRUE(need.examples) << seed;
    EXPECT_EQ(verdict_at(2.0 * *need.examples, seed), "certified") << seed;
    EXPECT_NE(verdict_at(0.25 * *need.examples, seed), "certified") << seed;
  }
}

TEST(MhaVisibility, TheGapGrowsWithTheExamples) {
  const InstanceLaw law = two_heads();
  const Layer layer = draw_layer(law, 1);
  double before = 0.0;
  for (const std::size_t count : {1000u, 4000u, 16'000u}) {
    const double gap = oracle_gap(layer, draw_examples(law, layer, count, 1, "test", {}), {});
    EXPECT_GT(gap, before);
    before = gap;
  }
}

TEST(MhaVisibility, TooFewRowsShowNothing) {
  const InstanceLaw law = two_heads();
  const Layer layer = draw_layer(law, 1);
  EXPECT_EQ(oracle_gap(layer, draw_examples(law, layer, 20, 1, "test", {}), {}), 0.0);
}

/// Three heads on two tokens of dimension 8: 16 512 inputs exist, and the learner refuses whatever
/// the number of examples.
TEST(MhaVisibility, InputsMayRunOut) {
  InstanceLaw law = two_heads();
  law.heads = 3;
  const ExamplesNeeded need = examples_needed(draw_layer(law, 1), 2, Inputs::boolean, 1, {});
  EXPECT_FALSE(need.examples);
  EXPECT_TRUE(need.exhausted);
  EXPECT_LT(need.gap, telling_gap);
}

}  // namespace
}  // namespace onset::mha
