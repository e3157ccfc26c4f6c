#include "smi/learners/learning_order.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "onset/numerics/replicates.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

constexpr LearnedWhen half{0.5, false};

/// A finished run with rows every ten steps.
TextRun run_with(const std::vector<std::vector<double>>& similarities, std::int64_t correct = 0) {
  TextRun run;
  for (std::size_t k = 0; k < similarities.size(); ++k) {
    run.rows.push_back({static_cast<std::int64_t>(10 * k), {}, correct, similarities[k]});
  }
  run.end = TextRun::End::finished;
  return run;
}

TEST(LearningOrder, MeasuresWhenEachLayerReachesTheLevelOnALineBetweenRows) {
  const auto layers =
      learning_order(std::vector{run_with({{0.2, 0.0}, {0.8, 0.4}, {0.9, 0.6}, {1.0, 1.0}})}, half);
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_NEAR(layers[0].steps.value, 5.0, tolerance::thousands_of_roundings);
  EXPECT_NEAR(layers[1].steps.value, 15.0, tolerance::thousands_of_roundings);
  EXPECT_DOUBLE_EQ(layers[0].start.value, 0.2);
  EXPECT_DOUBLE_EQ(layers[0].first.value, 1.0);
  EXPECT_DOUBLE_EQ(layers[1].first.value, 0.0);
  EXPECT_TRUE(std::isnan(layers[0].steps.error)) << "one run has no scatter";
  EXPECT_EQ(in_order(layers), (std::vector<std::size_t>{0, 1}));
}

TEST(LearningOrder, MeasuresTheWayFromTheStartWhenAsked) {
  // From 0.8 to 1 halfway is 0.9; from 0 it is 0.5.
  const std::vector runs{run_with({{0.8, 0.0}, {0.8, 1.0}, {1.0, 1.0}})};
  const auto layers = learning_order(runs, {0.5, true});
  EXPECT_NEAR(layers[0].steps.value, 15.0, tolerance::thousands_of_roundings);
  EXPECT_NEAR(layers[1].steps.value, 5.0, tolerance::thousands_of_roundings);
  EXPECT_EQ(in_order(layers), (std::vector<std::size_t>{1, 0}));
}

TEST(LearningOrder, CountsStepZeroWhenTheLevelIsThereFromTheStart) {
  const auto layers = learning_order(std::vector{run_with({{0.6, 0.1}, {1.0, 1.0}})}, half);
  EXPECT_EQ(layers[0].steps.value, 0.0);
}

TEST(LearningOrder, ReducesRunsToMeansWithErrorsAndLeavesUnfinishedOnesOut) {
  std::vector<TextRun> runs{run_with({{0.0, 0.0}, {1.0, 0.5}, {1.0, 1.0}}),
                            run_with({{0.0, 0.0}, {0.5, 1.0}, {1.0, 1.0}}),
                            run_with({{0.0, 0.0}, {1.0, 0.25}, {1.0, 1.0}})};
  runs.emplace_back();
  runs.back().rows.push_back({0, {}, 0, {}});
  const auto layers = learning_order(runs, half);
  // Steps 5, 10, 5 and 10, 5, 40/3.
  EXPECT_NEAR(layers[0].steps.value, 20.0 / 3.0, tolerance::thousands_of_roundings);
  const double steps[] = {5.0, 10.0, 5.0};
  EXPECT_NEAR(layers[0].steps.error, numerics::mean_over_runs(steps).error,
              tolerance::thousands_of_roundings);
  EXPECT_NEAR(layers[0].first.value, 2.0 / 3.0, tolerance::thousands_of_roundings);
  EXPECT_NEAR(layers[1].first.value, 1.0 / 3.0, tolerance::thousands_of_roundings);
}

TEST(LearningOrder, GivesTiesToNobody) {
  const auto layers = learning_order(std::vector{run_with({{0.0, 0.0}, {1.0, 1.0}})}, half);
  EXPECT_EQ(layers[0].first.value, 0.0);
  EXPECT_EQ(layers[1].first.value, 0.0);
}

TEST(LearningOrder, SaysNothingWithoutAFinishedRun) {
  EXPECT_TRUE(learning_order(std::vector<TextRun>(3), half).empty());
  EXPECT_TRUE(std::isnan(mean_accuracy(std::vector<TextRun>(3), 10).value));
}

TEST(LearningOrder, AccuracyHasTheErrorsOfItsQuestionsAndOfItsRuns) {
  std::vector<TextRun> runs{run_with({{0.0}, {1.0}}, 60)};
  EXPECT_NEAR(mean_accuracy(runs, 100).error, numerics::binomial_fraction(60, 100).error,
              tolerance::few_roundings);
  runs.push_back(run_with({{0.0}, {1.0}}, 70));
  EXPECT_NEAR(mean_accuracy(runs, 100).value, 0.65, tolerance::few_roundings);
  const double shares[] = {0.6, 0.7};
  const double of_runs = numerics::mean_over_runs(shares).error;
  EXPECT_NEAR(mean_accuracy(runs, 100).error,
              std::hypot(of_runs, numerics::binomial_fraction(65, 100).error),
              tolerance::thousands_of_roundings);
}

}  // namespace
}  // namespace onset::smi
