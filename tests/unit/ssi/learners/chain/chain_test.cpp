#include "onset/ssi/learners/sgd.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "onset/core/error.hpp"
#include "support/contexts.hpp"
#include "support/ssi_models.hpp"

namespace onset::ssi {
namespace {

/// Rounding differs by 1e-16 a step, and overlaps that grow magnify it.
constexpr double rounding_of_many_steps = 1e-9;
/// 2000 steps at a trillion dimensions move the overlap by much less than itself.
constexpr double a_tenth_of_the_start = 1e-7;

using testing::mixture;
using testing::with_student;

TEST(SsiChain, IsTheSameForAnyNumberOfThreads) {
  SgdOptions options;
  options.dim = 50;
  options.steps = 300;
  options.runs = 200;
  const SequenceModel model = mixture(1.0, 0.6, SampleLoss::frobenius);
  const Context two = testing::with_threads(2);
  for (const auto run : {run_chain, run_full_dimension}) {
    const auto a = run(model, options, {});
    const auto b = run(model, options, two);
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].m, b[i].m);
      EXPECT_EQ(a[i].e, b[i].e);
      EXPECT_EQ(a[i].first_passage, b[i].first_passage);
    }
  }
}

/// One step of a linear student from m = 1/sqrt(d), where d is so large that m is 0 for all that
/// matters: m moves by -eta/d times the batch's mean of A = (z - z* - noise xi) z*, whose mean is
/// -1 and whose variance is 3 + noise^2.
TEST(SsiChain, ABatchAveragesAndLabelNoiseAdds) {
  const SequenceModel model = with_student("z1", 1, "z1");
  SgdOptions options;
  options.dim = 1e10;
  options.rate = 1e-3;
  options.steps = 1;
  options.runs = 16'384;
  options.start = Start::overlapped;
  for (const std::size_t batch : {std::size_t{1}, std::size_t{4}}) {
    for (const double noise : {0.0, 2.0}) {
      options.batch = batch;
      options.noise = noise;
      std::vector<double> moves;
      for (const SgdRun& run : run_chain(model, options, {})) {
        moves.push_back((run.m - 1.0 / std::sqrt(options.dim)) * options.dim / options.rate);
      }
      double mean = 0.0;
      double square = 0.0;
      for (const double x : moves) mean += x / static_cast<double>(moves.size());
      for (const double x : moves) square += std::pow(x - mean, 2);
      const double variance = square / static_cast<double>(moves.size());
      const double expected = (3.0 + noise * noise) / static_cast<double>(batch);
      const auto count = static_cast<double>(moves.size());
      // False alarms of 1e-6; a product of two normals and a square has a kurtosis below 30.
      constexpr double deviations = 4.9;
      constexpr double most_kurtosis = 30.0;
      EXPECT_NEAR(mean, 1.0, deviations * std::sqrt(expected / count));
      EXPECT_NEAR(variance, expected, deviations * expected * std::sqrt(most_kurtosis / count));
    }
  }
}

TEST(SsiChain, WithoutABatchOrNoiseNothingChanges) {
  SgdOptions options;
  options.dim = 30;
  options.steps = 100;
  const SequenceModel model = with_student("z1*z2", 2, "tanh(z1)+z2");
  SgdOptions noisy = options;
  noisy.noise = 1e-3;
  const auto plain = run_chain(model, options, {});
  const auto changed = run_chain(model, noisy, {});
  constexpr double of_small_noise = 0.05;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NE(plain[i].m, changed[i].m);
    EXPECT_NEAR(plain[i].m, changed[i].m, of_small_noise) << "the samples are the same";
  }
}

TEST(SsiChain, ABatchOfAnUntiedStudentIsRefused) {
  SgdOptions options;
  options.batch = 2;
  EXPECT_THROW((void)run_chain(with_student("H2sum", 2, "untied"), options, {}), InvalidArgument);
}

/// With every step on the path, it says by itself when the level was first passed.
TEST(SsiChain, PathsAgreeWithWhatRunsRecord) {
  SgdOptions options;
  options.dim = 40;
  options.rate = 1.0;
  options.steps = 400;
  options.runs = 70;
  options.paths = 66;  // into the second block of lanes
  options.level = 0.4;
  for (std::uint64_t step = 0; step <= options.steps; ++step) options.path_steps.push_back(step);
  const SequenceModel model = mixture(1.0, 0.6);
  for (const auto run : {run_chain, run_full_dimension}) {
    const std::vector<SgdRun> runs = run(model, options, {});
    std::size_t passed = 0;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const std::vector<Overlaps>& path = runs[r].path;
      ASSERT_EQ(path.size(), r < options.paths ? options.path_steps.size() : 0u);
      if (path.empty()) continue;
      EXPECT_EQ(path.back().e, runs[r].e);
      EXPECT_EQ(path.back().m, runs[r].m);
      std::uint64_t first = 1;  // 0 stands for none, also where a run starts beyond the level
      while (first < path.size() &&
             std::max(std::abs(path[first].e), std::abs(path[first].m)) < options.level) {
        ++first;
      }
      EXPECT_EQ(first < path.size() ? first : 0, runs[r].first_passage);
      passed += runs[r].first_passage > 0 ? 1 : 0;
    }
    EXPECT_GT(passed, 0u) << "the test would say nothing";
  }
}

TEST(SsiChain, ARunDoesNotDependOnHowManyThereAre) {
  SgdOptions few;
  few.dim = 30;
  few.steps = 100;
  few.runs = 10;
  SgdOptions many = few;
  many.runs = 100;
  const SequenceModel model = mixture(1.0, 0.6, SampleLoss::frobenius);
  const auto a = run_chain(model, few, {});
  const auto b = run_chain(model, many, {});
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].m, b[i].m);
}

/// A link that does not say what it is, so that the general chain takes it.
class Unnamed final : public Link {
 public:
  explicit Unnamed(LinkPointer link) : link_(std::move(link)) {}
  [[nodiscard]] std::size_t tokens() const override { return link_->tokens(); }
  [[nodiscard]] std::size_t outputs() const override { return link_->outputs(); }
  void values(std::size_t count, const double* z, double* out) const override {
    link_->values(count, z, out);
  }
  void pullback(std::size_t count, const double* z, const double* values, const double* weight,
                double* delta) const override {
    link_->pullback(count, z, values, weight, delta);
  }

 private:
  LinkPointer link_;
};

TEST(SsiChain, OfTwoTokenAttentionIsTheGeneralOneToRounding) {
  SgdOptions options;
  options.dim = 20;
  options.rate = 1.0;
  options.steps = 200;
  for (const SampleLoss loss :
       {SampleLoss::half_squared, SampleLoss::squared, SampleLoss::frobenius}) {
    SequenceModel model = mixture(1.0, 0.6, loss);
    const auto quick = run_chain(model, options, {});
    model.student.link = std::make_shared<Unnamed>(model.student.link);
    const auto general = run_chain(model, options, {});
    for (std::size_t i = 0; i < quick.size(); ++i) {
      EXPECT_NEAR(quick[i].m, general[i].m, rounding_of_many_steps);
      EXPECT_NEAR(quick[i].e, general[i].e, rounding_of_many_steps);
    }
  }
}

TEST(SsiChain, StaysInTheDiskAndCountsPassages) {
  SgdOptions options;
  options.dim = 3;  // as small as it can be
  options.rate = 2.0;
  options.steps = 500;
  options.level = 0.2;
  for (const SgdRun& run : run_chain(mixture(1.0, 0.6, SampleLoss::frobenius), options, {})) {
    EXPECT_LE(std::hypot(run.e, run.m), 1.0 + 1e-9);
    EXPECT_GT(run.first_passage, 0u);
    EXPECT_LE(run.first_passage, options.steps);
  }
  options.dim = 2;
  EXPECT_THROW((void)run_chain(mixture(1.0, 0.6, SampleLoss::frobenius), options, {}),
               InvalidArgument);
  options.dim = 10.5;
  EXPECT_THROW((void)run_chain(mixture(1.0, 0.6, SampleLoss::frobenius), options, {}),
               InvalidArgument);
}

TEST(SsiChain, AStopIsHeededThread) {
  std::stop_source source;
  source.request_stop();
  Context context;
  context.stop = source.get_token();
  SgdOptions options;
  options.steps = 1'000'000'000;
  EXPECT_THROW((void)run_chain(mixture(1.0, 0.6, SampleLoss::frobenius), options, context),
               Interrupted);
}

TEST(SsiChain, HardlyMovesInTwoThousandStepsAtATrillionDimensions) {
  SequenceModel model = with_student("H2sum", 2, "tied", SampleLoss::squared);
  SgdOptions options;
  options.dim = 1e12;
  options.rate = 0.1;
  options.start = Start::overlapped;
  options.steps = 2000;
  for (const SgdRun& run : run_chain(model, options, {})) {
    EXPECT_NEAR(run.m, 1e-6, a_tenth_of_the_start) << "2000 steps are nothing at this dimension";
  }
}

TEST(SsiChain, AnEstimateOfItsTimeGrowsLikeTheAttentionMatrix) {
  SgdOptions options;
  const auto seconds = [&](std::size_t tokens) {
    SequenceModel model;
    model.target = read_target("H2sum", tokens);
    model.student = make_student("attention", {.tokens = tokens});
    return chain_seconds(model, options);
  };
  EXPECT_GT(seconds(16), 10 * seconds(4));
  EXPECT_LT(seconds(16), 16 * seconds(4));
  options.runs = 65;
  const double two_blocks = seconds(4);
  options.runs = 128;
  EXPECT_EQ(seconds(4), two_blocks) << "a block advances all its lanes";
}

}  // namespace
}  // namespace onset::ssi
