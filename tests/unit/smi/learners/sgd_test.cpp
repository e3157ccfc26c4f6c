#include "smi/learners/sgd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "onset/core/error.hpp"
#include "support/complaint.hpp"
#include "support/contexts.hpp"
#include "support/scale.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

SgdOptions one_pass(std::size_t dimension, double time) {
  SgdOptions o;
  o.dimension = dimension;
  o.batch = 1;
  o.rate = 0.4;
  o.decay = 0.0;
  o.time = time;
  o.records = 4;
  return o;
}

/// Largest distance of two empirical distribution functions.
double kolmogorov_distance(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double worst = 0.0;
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const double x = std::fmin(a[i], b[j]);  // runs that diverged have one value in common
    while (i < a.size() && a[i] <= x) ++i;
    while (j < b.size() && b[j] <= x) ++j;
    worst = std::fmax(worst, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                      static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return worst;
}

/// Beyond any cosine after a run has diverged, so that laws differ where chances of that do.
double cosine(const SgdRun& run, std::size_t record, std::size_t layer) {
  return record < run.records.size() ? run.records[record].cosine[layer] : 2.0;
}

struct LawCase {
  const char* name;
  int layers, tokens;
  std::size_t dimension, batch;
  double rate, decay, start;
  int rank = 1;
  std::vector<double> covariance = {};
};

class LongSmiChain : public ::testing::TestWithParam<LawCase> {};

TEST_P(LongSmiChain, HasTheLawOfOnePassInFullDimension) {
  const LawCase& c = GetParam();
  DeepAttention model;
  model.layers = c.layers;
  model.tokens = c.tokens;
  model.rank = {c.rank};
  model.token_covariance = c.covariance;
  SgdOptions o = one_pass(c.dimension, 8.0);
  o.batch = c.batch;
  o.rate = c.rate;
  o.decay = c.decay;
  o.start_cosine = c.start;
  const int runs = testing::scaled(1500);
  const auto layers = static_cast<std::size_t>(c.layers);
  const std::size_t last = o.records;
  std::vector<std::vector<double>> full(2 * layers), chain(2 * layers);
  for (int r = 0; r < runs; ++r) {
    const auto index = static_cast<std::uint64_t>(r);
    const SgdRun a = sgd_online(model, o, index, {});
    const SgdRun b = sgd_chain(model, o, index, {});
    for (std::size_t l = 0; l < layers; ++l) {
      for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
        const std::size_t record = k == 0 ? 1 : last;
        full[2 * l + k].push_back(cosine(a, record, l));
        chain[2 * l + k].push_back(cosine(b, record, l));
      }
    }
  }
  // Kolmogorov's tail 2 exp(-2 x^2) at x = 2.8 is 3e-7 for each comparison; at most six a case.
  const double allowed = 2.8 * std::sqrt(2.0 / runs);
  for (std::size_t k = 0; k < full.size(); ++k) {
    EXPECT_LT(kolmogorov_distance(full[k], chain[k]), allowed) << "comparison " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(
    LongLaws, LongSmiChain,
    ::testing::Values(LawCase{"SmallestDimension", 2, 2, 6, 1, 0.4, 0.0, 0.0},
                      LawCase{"TwoLayers", 2, 2, 20, 1, 0.8, 0.0, 0.3},
                      LawCase{"LargeSteps", 2, 2, 12, 1, 2.0, 0.1, 0.5},
                      LawCase{"Batches", 2, 2, 20, 5, 3.0, 0.2, 0.3},
                      LawCase{"ThreeLayersThreeTokens", 3, 3, 12, 1, 0.5, 0.0, 0.5},
                      LawCase{"OneLayer", 1, 3, 9, 1, 0.5, 0.0, 0.2},
                      LawCase{"RankTwo", 2, 3, 14, 1, 0.5, 0.0, 0.3, 2},
                      LawCase{
                          "CorrelatedTokens", 2, 2, 12, 1, 0.8, 0.0, 0.3, 1, {1.0, 0.6, 0.6, 1.0}}),
    [](const auto& each) { return each.param.name; });

/// With points enough to see both the gradient and its fluctuations larger by a fifth [smi 54].
TEST(LongSmiFlow, IsWhatTheChainDoesInLargeDimension) {
  SgdOptions o = one_pass(40'000, 8.0);
  o.start_cosine = 0.3;
  const auto flow = sgd_flow({}, o, 512, {}).points;
  constexpr int runs = 12;
  std::vector<double> sum(2 * (o.records + 1)), square(sum.size());
  for (std::uint64_t r = 0; r < runs; ++r) {
    const SgdRun run = sgd_chain({}, o, r, {});
    for (std::size_t k = 0; k < sum.size(); ++k) {
      const double c = run.records[k / 2].cosine[k % 2];
      sum[k] += c;
      square[k] += c * c;
    }
  }
  for (std::size_t k = 0; k < sum.size(); ++k) {
    const double mean = sum[k] / runs;
    const double scatter = std::sqrt(std::fmax(square[k] / runs - mean * mean, 0.0) / (runs - 1));
    const Estimate& limit = flow[k / 2].cosine[k % 2];
    // Student's t with 11 degrees is beyond 10 with a probability of
    // 1e-6; the chain's own distance from its limit is of order 1/D.
    EXPECT_NEAR(mean, limit.value, 10.0 * std::hypot(scatter, limit.error) + 1e-4) << k;
  }
}

/// Labels with noise that is added, and that is multiplied.
constexpr const char* noisy_links[] = {"z1*z2+z1+2*e1", "z1+2*z1*e1"};

TEST(LongSmiNoise, ChangesTheChainAsItDoesFullDimension) {
  SgdOptions o = one_pass(12, 6.0);
  o.rate = 0.4;
  o.batch = 2;
  o.start_cosine = 0.3;
  const int runs = testing::scaled(1500);
  for (const char* link : noisy_links) {
    const SgdModel model(link);
    std::vector<double> full[2], chain[2];
    for (int r = 0; r < runs; ++r) {
      const auto index = static_cast<std::uint64_t>(r);
      const SgdRun a = sgd_online(model, o, index, {}), b = sgd_chain(model, o, index, {});
      for (const std::size_t k : {0U, 1U}) {
        const std::size_t record = k == 0 ? 1 : o.records;
        full[k].push_back(cosine(a, record, 0));
        chain[k].push_back(cosine(b, record, 0));
      }
    }
    // Kolmogorov's tail at 2.8 is 3e-7.
    const double allowed = 2.8 * std::sqrt(2.0 / runs);
    EXPECT_LT(kolmogorov_distance(full[0], chain[0]), allowed) << link;
    EXPECT_LT(kolmogorov_distance(full[1], chain[1]), allowed) << link;
  }
}

TEST(LongSmiNoise, OnePassInLargeDimensionFollowsTheFlow) {
  SgdOptions o = one_pass(1500, 6.0);
  o.rate = 0.07;
  o.start_cosine = 0.3;
  for (const char* link : noisy_links) {
    const SgdModel model(link);
    const auto flow = sgd_flow(model, o, 512, {}).points;
    ASSERT_EQ(flow.size(), o.records + 1) << link;
    constexpr std::uint64_t runs = 12;
    std::vector<double> sum(o.records + 1), square(sum.size());
    for (std::uint64_t r = 0; r < runs; ++r) {
      const SgdRun run = sgd_online(model, o, r, {});
      ASSERT_EQ(run.records.size(), sum.size());
      for (std::size_t k = 0; k < sum.size(); ++k) {
        const double c = run.records[k].cosine[0];
        sum[k] += c;
        square[k] += c * c;
      }
    }
    for (std::size_t k = 0; k < sum.size(); ++k) {
      const double mean = sum[k] / runs;
      const double scatter = std::sqrt(std::fmax(square[k] / runs - mean * mean, 0.0) / (runs - 1));
      // Student's t with 11 degrees is beyond 10 with a probability of 1e-6; runs are of order 1/D
      // away from their limit.
      const double off = 2.0 / static_cast<double>(o.dimension);
      EXPECT_NEAR(mean, flow[k].cosine[0].value,
                  10.0 * std::hypot(scatter, flow[k].cosine[0].error) + off)
          << link << " " << k;
    }
  }
}

// With whole batches and no decay the end is least squares: an excess loss of
// noise^2 D/(N - D - 1), and none without noise.
TEST(SmiSgd, BatchesEndAtLeastSquares) {
  SgdOptions o;
  o.dimension = 60;
  o.alpha = 20.0;
  o.batch = 1200;
  o.reuse = 1;
  o.rate = 1.0;
  o.decay = 0.0;
  o.time = 60.0;
  o.records = 2;
  constexpr double noise = 0.5;
  const double excess = noise * noise * 60.0 / (1200.0 - 60.0 - 1.0);
  constexpr std::uint64_t runs = 8;
  double loss = 0.0, noisy_loss = 0.0;
  for (std::uint64_t r = 0; r < runs; ++r) {
    const SgdRun exact = sgd_batch(SgdModel("z1"), o, r, {});
    EXPECT_LT(exact.records.back().loss, tolerance::squared_roundings);
    EXPECT_EQ(exact.records.back().loss, exact.records.back().noisy_loss);
    const SgdRun noisy = sgd_batch(SgdModel("z1", noise), o, r, {});
    ASSERT_FALSE(noisy.diverged);
    loss += noisy.records.back().loss / runs;
    noisy_loss += noisy.records.back().noisy_loss / runs;
  }
  // Sums of 60 squares, and of the 256 of a loss, scatter by sqrt(2/60 + 2/256) of themselves, so
  // that means over eight runs do by 7 %, those with noise by 3 %; six of these.
  constexpr double scatter = 6 * 0.07, noisy_scatter = 6 * 0.03;
  EXPECT_NEAR(loss, excess, scatter * excess);
  EXPECT_NEAR(noisy_loss, noise * noise + excess, noisy_scatter * noise * noise);
}

// A loss that noise alone makes large is none that diverges, and labels that are not linear in
// their noise make the best student another teacher.
TEST(SmiSgd, NoiseIsNotTakenForADivergence) {
  SgdOptions o = one_pass(300, 60.0);
  o.rate = 0.01;
  for (const auto solve : {sgd_online, sgd_chain}) {
    const SgdRun run = solve(SgdModel("(z1+2*e1)^2"), o, 0, {});
    EXPECT_FALSE(run.diverged);
    EXPECT_EQ(run.records.size(), 5U);
  }
}

TEST(SmiSgd, LearnsTheLastLayerFirstInBatches) {
  SgdOptions o;
  o.dimension = 60;
  o.batch = 50;
  o.time = 60;
  o.records = 6;
  o.rate = 60.0 * 6.0 / 50.0;
  const SgdRun run = sgd_batch({}, o, 0, {});
  ASSERT_EQ(run.records.size(), 7U);
  EXPECT_EQ(run.records[0].time, 0.0);
  EXPECT_DOUBLE_EQ(run.records[6].time, 60.0);
  EXPECT_LT(run.records[0].cosine[1], 0.6);
  EXPECT_GT(run.records[6].cosine[1], 0.9);
  EXPECT_GT(run.records[6].cosine[1], run.records[6].cosine[0]);
}

TEST(SmiSgd, RunsDifferAndRepeatThemselves) {
  const SgdOptions o = one_pass(30, 2.0);
  for (const auto solve : {sgd_batch, sgd_online, sgd_chain}) {
    const SgdRun a = solve({}, o, 1, {}), b = solve({}, o, 1, {}), c = solve({}, o, 2, {});
    EXPECT_EQ(a.records.back().cosine, b.records.back().cosine);
    EXPECT_NE(a.records.back().cosine, c.records.back().cosine);
  }
}

TEST(SmiSgd, ALearningRateThatIsTooLargeIsCalledDiverged) {
  SgdOptions o = one_pass(50, 20.0);
  o.rate = 1e4;
  for (const auto solve : {sgd_online, sgd_chain}) {
    const SgdRun run = solve({}, o, 0, {});
    EXPECT_TRUE(run.diverged);
    EXPECT_LT(run.records.size(), 5U);
  }
}

TEST(SmiSgd, ThreadsDoNotChangeTheFlow) {
  SgdOptions o = one_pass(1000, 1.0);
  o.records = 100;
  const auto one = sgd_flow({}, o, 16, testing::with_threads(1)).points;
  const auto three = sgd_flow({}, o, 16, testing::with_threads(3)).points;
  EXPECT_EQ(one.back().cosine[0].value, three.back().cosine[0].value);
  EXPECT_EQ(one.back().cosine[1].error, three.back().cosine[1].error);
}

TEST(SmiSgd, StopsOnRequest) {
  std::stop_source source;
  source.request_stop();
  Context context;
  context.stop = source.get_token();
  SgdOptions batch = one_pass(50, 1e6);
  batch.reuse = 1'000'000;
  SgdOptions large = one_pass(1000, 1e9);
  large.batch = 1'000'000'000;
  for (const SgdRun& run : {sgd_chain({}, large, 0, context), sgd_online({}, large, 0, context)}) {
    EXPECT_TRUE(run.interrupted);
    EXPECT_EQ(run.records.size(), 1u);  // what was recorded by then is kept
  }
  const SgdRun undrawn = sgd_batch({}, batch, 0, context);
  EXPECT_TRUE(undrawn.interrupted);
  EXPECT_TRUE(undrawn.records.empty());  // it is stopped while its samples are drawn
  const SgdFlow flow = sgd_flow({}, one_pass(1000, 1e6), 16, context);
  EXPECT_TRUE(flow.interrupted);
  EXPECT_EQ(flow.points.size(), 1u);
}

TEST(SmiSgd, ALossFarAboveThatOfTheStartIsADivergence) {
  SgdOptions o;
  o.dimension = 50;
  o.alpha = 4.0;
  o.time = 40.0;
  o.records = 8;
  o.rate = 2000.0;
  EXPECT_TRUE(sgd_batch({}, o, 0, {}).diverged);
  o.rate = 15.0;
  const SgdRun good = sgd_batch({}, o, 0, {});
  EXPECT_FALSE(good.diverged);
  EXPECT_LT(good.records.back().loss, good.records.front().loss);
}

TEST(SmiFlow, LongTimesAndStrongDecaysAreSolvedToo) {
  SgdOptions o = one_pass(1000, 2000.0);
  o.start_cosine = 0.3;
  const SgdFlow learned = sgd_flow({}, o, 16, {});
  EXPECT_FALSE(learned.diverged);
  EXPECT_GT(learned.points.back().cosine[1].value, 0.9);
  o = one_pass(1000, 100.0);
  o.decay = 10.0;
  const SgdFlow decayed = sgd_flow({}, o, 16, {});
  EXPECT_FALSE(decayed.diverged);
  for (const SgdFlowPoint& point : decayed.points)
    EXPECT_TRUE(std::isfinite(point.cosine[0].value));
}

TEST(SmiSgd, NamesTheOptionThatIsWrong) {
  const auto wrong = [](auto change) { return testing::wrong_option<SgdOptions>(change); };
  EXPECT_EQ(wrong([](SgdOptions& o) { o.rate = 0.0; }), "rate");
  EXPECT_EQ(wrong([](SgdOptions& o) { o.batch = 0; }), "batch");
  EXPECT_EQ(wrong([](SgdOptions& o) { o.start_cosine = 1.5; }), "start_cosine");
  EXPECT_EQ(testing::wrong_field([] { (void)sgd_chain({}, one_pass(5, 1.0), 0, {}); }),
            "dimension");
}

TEST(SmiFlow, SaysThatALearningRateIsTooLarge) {
  SgdOptions o = one_pass(1000, 50.0);
  o.rate = 500.0;
  const SgdFlow flow = sgd_flow({}, o, 16, {});
  EXPECT_TRUE(flow.diverged || flow.unresolved);
  EXPECT_LT(flow.points.size(), o.records + 1);
  EXPECT_GE(flow.points.size(), 1u);
}

}  // namespace
}  // namespace onset::smi
