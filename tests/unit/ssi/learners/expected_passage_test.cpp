#include "ssi/learners/expected_passage.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "onset/core/error.hpp"
#include "ssi/learners/diffusion.hpp"
#include "ssi/learners/ensemble.hpp"
#include "support/ssi_models.hpp"

namespace onset::ssi {
namespace {

SgdOptions at(double dim, double rate, std::size_t runs) {
  SgdOptions options;
  options.dim = dim;
  options.rate = rate;
  options.runs = runs;
  options.level = 0.3;
  options.seed = 11;
  options.stop_at_level = true;
  // Ten times the mean first passage and more, in all of these tests.
  options.steps = 300'000;
  return options;
}

/// False alarms of 1e-6 for a normal deviate.
constexpr double deviations = 4.9;

/// The boundary-value problem and runs of the same diffusion share the drift and the noise, and
/// nothing else; steps of Heun's method are 1/50 of the time in which overlaps grow by e.
TEST(SsiExpectedPassage, IsThatOfRunsOfTheDiffusion) {
  const SequenceModel model = testing::with_student("H2sum", 2, "tied");
  SgdOptions options = at(1000, 0.3, 2048);
  const FlowField field(model, options.rate, options.seed, {});
  for (const Start start : {Start::random, Start::zero, Start::overlapped}) {
    options.start = start;
    const auto runs = mean_passage(run_diffusion(field, options, {}, {}).runs);
    ASSERT_TRUE(runs);
    const Estimate expected = expected_passage(field, options);
    EXPECT_NEAR(expected.value, runs->value, deviations * std::hypot(runs->error, expected.error))
        << to_string(start);
  }
}

/// The exact chain at d = 20000, where the diffusion is as good as its limit (its next order is
/// that of 1/sqrt(d)).
TEST(SsiExpectedPassage, IsThatOfTheExactChainAtLargeDimensions) {
  const SequenceModel model = testing::with_student("H1sum", 2, "tied");
  const SgdOptions options = at(20'000, 0.5, 256);
  const FlowField field(model, options.rate, options.seed, {});
  const Estimate expected = expected_passage(field, options);
  const auto chain = mean_passage(run_chain(model, options, {}));
  ASSERT_TRUE(chain);
  EXPECT_NEAR(chain->value, expected.value, deviations * std::hypot(chain->error, expected.error));
}

/// The pull of a rate six times the largest makes the time grow like the exponential of d.
TEST(SsiExpectedPassage, IsInfiniteBeyondTheLargestRate) {
  const SequenceModel model = testing::with_student("H2sum", 2, "tied");
  const SgdOptions options = at(1e6, 5.0, 1);
  const FlowField field(model, options.rate, options.seed, {});
  EXPECT_TRUE(std::isinf(expected_passage(field, options).value));
}

TEST(SsiExpectedPassage, IsKnownForOneOverlapOnly) {
  SequenceModel model = testing::with_student("z1", 1, "z1");
  model.positional = true;
  const FlowField field(model, 0.1, 1, {});
  EXPECT_THROW((void)expected_passage(field, at(1000, 0.1, 1)), InvalidArgument);
}

}  // namespace
}  // namespace onset::ssi
