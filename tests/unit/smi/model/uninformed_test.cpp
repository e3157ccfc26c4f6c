#include "smi/model/uninformed.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "onset/core/error.hpp"
#include "support/channel_comparisons.hpp"
#include "support/contexts.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

TEST(Uninformed, NormalisesTheLabelAndTheLastField) {
  for (const double skip : {0.0, 0.1, 1.0, 10.0}) {
    const Uninformed u =
        uninformed_channel(deep_attention(2, 2, {skip}), {2048, 32, 1}, testing::with_threads(2));
    const std::string what = "skip " + std::to_string(skip);
    // The plane is cut where 1e-7 of the mass lies (an edge at h_minus = 0 without skip).
    expect_zero(minus(u.mass, 1.0), 1e-6, what);
    expect_zero(minus(u.last_norm, 2.0), 1e-5, what);
  }
}

TEST(Uninformed, TheFirstThresholdAtSkipOneIsTheKnownOne) {
  const Uninformed u =
      uninformed_channel(deep_attention(2, 2, {1.0}), {4096, 32, 1}, testing::with_threads(2));
  const Estimate threshold =
      numerics::reduce(numerics::map(u.growth[1], [](double f) { return 1.0 / f; }));
  // 0.18548(1) from a separate program.
  EXPECT_NEAR(threshold.value, 0.18548, 1.5e-5 + far_out * threshold.error);
  EXPECT_LT(threshold.error, 1e-5);
}

TEST(Uninformed, ALargeSkipMakesTheLastLayerASingleOne) {
  for (const double skip : {1e3, 1e4}) {
    const Uninformed u =
        uninformed_channel(deep_attention(2, 2, {skip}), {1024, 16, 1}, testing::with_threads(2));
    // Corrections of the order 1/skip.
    EXPECT_NEAR(1.0 / numerics::mean(u.growth[1]), 1.0 / 6.0, 1.0 / skip) << skip;
  }
}

TEST(Uninformed, NoGrowthExceedsTheRigorousBound) {
  for (const double skip : {0.0, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0}) {
    const Uninformed u =
        uninformed_channel(deep_attention(2, 2, {skip}), {1024, 16, 1}, testing::with_threads(2));
    for (const auto& f : u.growth) {
      const Estimate e = numerics::reduce(f);
      EXPECT_GE(e.value, 0.0) << skip;
      EXPECT_LE(e.value, 6.0 + 10.0 * e.error + 1e-6) << skip;
    }
  }
}

TEST(Uninformed, ThreeLayersObeyTheBoundAndTheLastLeads) {
  const Uninformed u =
      uninformed_channel(deep_attention(3, 2, {1.0, 0.5}), {2048, 16, 1}, testing::with_threads(2));
  ASSERT_EQ(u.growth.size(), 3u);
  for (const auto& f : u.growth) {
    const Estimate e = numerics::reduce(f);
    EXPECT_GT(e.value, 0.0);
    EXPECT_LE(e.value, 6.0);
    EXPECT_LT(numerics::mean(u.growth[0]), numerics::mean(u.growth[2]));
  }
  // 16 replicates; t of 15 degrees of freedom beyond 10: odds of 5e-8.
  const Estimate mass = numerics::reduce(u.mass);
  EXPECT_NEAR(mass.value, 1.0, 10.0 * mass.error + 1e-6);
  const Estimate norm = numerics::reduce(u.last_norm);
  EXPECT_NEAR(norm.value, 2.0, 10.0 * norm.error + 1e-5);
}

TEST(Uninformed, OneLayerIsTheClosedForm) {
  for (const int tokens : {2, 3, 6}) {
    const Uninformed u = uninformed_channel(deep_attention(1, tokens, {1.0}), {}, Context());
    EXPECT_DOUBLE_EQ(numerics::mean(u.growth[0]), tokens * (tokens + 1.0));
    // E log Z_out with Z_out = 2 N(h; 0, I): log 2 minus the entropy of M standard normals.
    EXPECT_NEAR(numerics::mean(u.log_evidence),
                std::log(2.0) - 0.5 * tokens * (std::log(2.0 * std::numbers::pi) + 1.0),
                tolerance::hundreds_of_roundings);
  }
}

TEST(Uninformed, GivesTheSameBitsForAnyNumberOfThreadsAndRefusesOtherModels) {
  const DeepAttention model = deep_attention(2, 2, {1.0});
  const Uninformed expected = uninformed_channel(model, {64, 2, 1}, Context());
  for (const int threads : {2, 3, 8}) {
    Context context;
    context.threads = threads;
    const Uninformed u = uninformed_channel(model, {64, 2, 1}, context);
    EXPECT_EQ(u.growth, expected.growth);
    EXPECT_EQ(u.log_evidence, expected.log_evidence);
  }
  EXPECT_THROW((void)uninformed_channel(deep_attention(2, 3, {1.0}), {}, Context()), Refused);
  EXPECT_THROW((void)uninformed_channel(model, {100, 16, 1}, Context()), InvalidArgument);
}

}  // namespace
}  // namespace onset::smi
