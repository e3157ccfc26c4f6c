#include "smi/learners/message_passing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi/model/link.hpp"
#include "onset/testing/check_model.hpp"
#include "smi/limits/curve.hpp"
#include "smi/model/attention_model.hpp"
#include "smi/model/links.hpp"
#include "smi/model/typed/typed_model.hpp"
#include "support/complaint.hpp"
#include "support/contexts.hpp"
#include "support/one_layer_gain.hpp"

namespace onset::smi {
namespace {

/// The size of the start, 1e-6, is kept to six of its digits.
constexpr double rounding_of_the_start = 1e-12;
/// Runs end when their steps are below 1e-4; where these shrink slowly twenty may be left.
constexpr double last_step = 2e-3;
/// A number of three digits, by an iteration of its own.
constexpr double third_digit = 0.002;
/// A few times 1/sqrt(D) = 0.035.
constexpr double chance_at_800_dimensions = 0.15;
/// The squared norm of the teacher alone scatters by sqrt(2 / 600) = 0.058; twice that of the
/// half.
constexpr double chance_of_the_teacher = 0.12;
/// V depends on the samples alone, whose spectrum scatters by about 1/D = 1.7e-3; ten of these.
constexpr double chance_of_the_samples = 0.02;
/// Runs end when their steps are below 1e-4; ten may be left.
constexpr double tolerance_of_the_iteration = 1e-3;
/// V is below 1e-19: norm and overlap differ by its root, 3e-10, at most.
constexpr double known_to_rounding = 1e-9;

using ::testing::HasSubstr;

std::unique_ptr<SequenceModel> attention(int layers, int tokens = 2) {
  DeepAttention model;
  model.layers = layers;
  model.tokens = tokens;
  return attention_model(model);
}

MessagePassing run(const SequenceModel& model, std::size_t dimension, double alpha,
                   std::uint64_t number, const Context& context = {}) {
  const auto samples =
      static_cast<std::size_t>(std::lround(alpha * static_cast<double>(dimension)));
  MessagePassingOptions options;
  options.nodes = 64;
  return message_passing(model, draw_dataset(model, dimension, samples, 11, number, context),
                         options, number, context);
}

/// The fixed point 1 - V = alpha r(V) of one layer, by bisection.
double one_layer_overlap(int tokens, double alpha) {
  double low = 1e-3, high = 0.999;
  for (int k = 0; k < 40; ++k) {
    const double v = 0.5 * (low + high);
    (1.0 - v > alpha * testing::one_layer_gain(tokens, v) ? low : high) = v;
  }
  return 1.0 - 0.5 * (low + high);
}

TEST(SmiMessagePassing, SaysWhichLayersLeftTheSizeOfTheStart) {
  const auto model = attention(2);
  const MessagePassing result = run(*model, 200, 0.35, 0);  // layer 2 is learned from 0.185 on
  ASSERT_EQ(result.escaped.size(), 2u);
  EXPECT_FALSE(result.escaped[0]);
  EXPECT_TRUE(result.escaped[1]);
  const double start = MessagePassingOptions{}.start;
  constexpr double rounding = 1e-12;
  EXPECT_NEAR(result.steps.back().block[0].norm / (start * start), 1.0, rounding);
  EXPECT_GT(result.steps.back().block[1].norm, 100.0 * start * start);
}

TEST(SmiMessagePassing, RecoversOneLayerExactlyAboveTheThreshold) {
  const auto model = attention(1);
  for (std::uint64_t r = 0; r < 4; ++r) {
    const MessagePassing result = run(*model, 300, 0.8, r);
    EXPECT_EQ(result.end, StopReason::recovered);
    EXPECT_GT(result.steps.back().block[0].cosine, 0.99999);
    EXPECT_LT(result.steps.back().plugin_error, 1e-6);
  }
}

TEST(SmiMessagePassing, RecoversTwoLayersAndTheLastOneFirst) {
  const auto model = attention(2);
  const MessagePassing result = run(*model, 150, 1.5, 1);
  EXPECT_EQ(result.end, StopReason::recovered);
  EXPECT_GT(result.steps.back().block[0].cosine, 0.9999);
  int first[2] = {0, 0};
  for (const MessagePassingStep& step : result.steps) {
    for (int l = 0; l < 2; ++l) {
      if (first[l] == 0 && step.block[static_cast<std::size_t>(l)].cosine > 0.5) {
        first[l] = step.iteration;
      }
    }
  }
  EXPECT_LT(first[1], first[0]);
}

TEST(SmiMessagePassing, WeightsDieOutBelowEveryThreshold) {
  // One layer of two tokens is learned from alpha = 1/6 on.
  const MessagePassing result = run(*attention(1), 400, 0.08, 0);
  EXPECT_EQ(result.end, StopReason::converged);
  // Dead weights are kept at the size of the start.
  EXPECT_NEAR(result.steps.back().block[0].norm, 1e-6, rounding_of_the_start);
}

TEST(SmiMessagePassing, ABlockThatDiedOutComesBackWhenItBecomesLearnable) {
  // The second block shrinks by orders of magnitude per iteration until the first is known, and is
  // learned from pi^2/4 on after that.
  const MessagePassing result = run(*link_model("staircase"), 120, 4.0, 1);
  EXPECT_FALSE(result.failed());
  EXPECT_GT(result.steps.back().block[0].cosine, 0.9999);
  EXPECT_GT(result.steps.back().block[1].overlap, 0.3);
}

TEST(SmiMessagePassing, DampingOfVMovesNoFixedPoint) {
  const auto model = link_model("sign");
  const Dataset data = draw_dataset(*model, 400, 1200, 5, 0, {});
  MessagePassingOptions options;
  options.restarts = 0;
  const MessagePassing plain = message_passing(*model, data, options, 0, {});
  options.damping = 0.4;
  const MessagePassing damped = message_passing(*model, data, options, 0, {});
  ASSERT_EQ(plain.end, StopReason::converged);
  ASSERT_EQ(damped.end, StopReason::converged);
  EXPECT_GT(plain.steps.back().block[0].overlap, 0.3);
  EXPECT_NEAR(plain.steps.back().block[0].overlap, damped.steps.back().block[0].overlap, last_step);
  EXPECT_NEAR(plain.steps.back().variance[0], damped.steps.back().variance[0], last_step);
}

/// How the runs ended that did not fail: nearly all of them.
std::vector<MessagePassingStep> last_steps(const SequenceModel& model, std::size_t dimension,
                                           double alpha) {
  const int runs = 26;
  std::vector<MessagePassingStep> last;
  for (int r = 0; r < runs; ++r) {
    const MessagePassing result = run(model, dimension, alpha, static_cast<std::uint64_t>(r));
    if (!result.failed()) last.push_back(result.steps.back());
  }
  EXPECT_GE(last.size(), 24U);
  return last;
}

/// Compares a mean over runs with its limit. Student's t with 23 degrees or more is beyond 6.5 with
/// a probability of 1e-6; `bias` is what finite dimension may add.
template <class Read>
void expect_limit(const std::vector<MessagePassingStep>& last, double limit, double bias,
                  const Read& read) {
  std::vector<double> values;
  for (const MessagePassingStep& step : last) values.push_back(read(step));
  const Estimate mean = numerics::reduce(values);
  EXPECT_LT(std::abs(mean.value - limit), 6.5 * mean.error + bias);
  EXPECT_LT(mean.error, 0.03);  // else this would say little
}

TEST(LongSmiMessagePassing, OverlapsAreThoseOfStateEvolutionWithinTheirSpread) {
  constexpr double alpha = 0.25;
  const double expected = one_layer_overlap(3, alpha);
  EXPECT_NEAR(expected, 0.667, third_digit);
  const auto last = last_steps(*attention(1, 3), 600, alpha);
  // At this dimension the mean is lower than its limit by 0.02, a third of the spread.
  const auto block = [](const MessagePassingStep& step) { return step.block[0]; };
  expect_limit(last, expected, 0.02, [&](const auto& step) { return block(step).overlap; });
  expect_limit(last, expected, 0.02, [&](const auto& step) { return block(step).norm; });
}

TEST(LongSmiMessagePassing, TheLastOfTwoLayersIsLearnedAsStateEvolutionSays) {
  constexpr double alpha = 0.6;
  const BayesCurve curve =
      bayes_curve(*attention(2), std::vector{alpha}, {}, testing::with_threads(2));
  const Estimate overlap = curve.points[0].overlap[1];
  EXPECT_LT(overlap.error, 5e-3);  // of which the root has half: less than the bias below
  // The cosine does not feel the chance of the teacher's norm; at this dimension it is lower than
  // its limit by 0.01 or so, since some runs stay in a poorly learned state.
  const auto last = last_steps(*attention(2), 300, alpha);
  const auto cosine = [](const auto& step) { return step.block[1].cosine; };
  expect_limit(last, std::sqrt(overlap.value), 0.01, cosine);
}

// Strong damping slows runs down, which are far from their end when their iterations are used up.
TEST(SmiMessagePassing, ADampedRunThatStillGrowsIsNotFinished) {
  const auto model = attention(1);
  MessagePassingOptions options;
  options.nodes = 64;
  options.damping = 0.95;
  options.restarts = 0;
  const Dataset data = draw_dataset(*model, 300, 180, 11, 0, {});
  const MessagePassing damped = message_passing(*model, data, options, 0, {});
  EXPECT_LT(damped.steps.back().block[0].norm, 0.95);
  EXPECT_EQ(damped.end, StopReason::unfinished);
  options.max_iterations = 4000;
  const MessagePassing longer = message_passing(*model, data, options, 0, {});
  EXPECT_EQ(longer.end, StopReason::recovered);
}

// With little noise on squares, weights and V overshoot in turns, more and more, while their means
// stay where they are and close to the Nishimori line. Such an attempt is given up, and damped.
TEST(SmiMessagePassing, RunsThatOvershootInTurnsHaveNotEnded) {
  const auto model = typed_model(std::make_shared<const TypedLink>("z1^2+0.2*e1", 0.0), 1);
  const Dataset data = draw_dataset(*model, 50, 150, 2, 0, {});
  MessagePassingOptions options;
  options.max_iterations = 60;
  options.error_points = 1;
  options.restarts = 0;
  EXPECT_EQ(message_passing(*model, data, options, 0, {}).end, StopReason::diverged);
  options.damping = 0.5;
  EXPECT_FALSE(message_passing(*model, data, options, 0, {}).failed());
}

TEST(SmiMessagePassing, StaysOnTheNishimoriLine) {
  const MessagePassing result = run(*link_model("sign"), 800, 3.0, 2);
  ASSERT_EQ(result.end, StopReason::converged);
  const MessagePassingStep& last = result.steps.back();
  // Norm, overlap and 1 - V agree up to a few times 1/sqrt(D) = 0.035.
  EXPECT_NEAR(last.block[0].norm, 1.0 - last.variance[0], chance_at_800_dimensions);
  EXPECT_NEAR(last.block[0].overlap, 1.0 - last.variance[0], chance_at_800_dimensions);
  EXPECT_GT(1.0 - last.variance[0], 0.7);
}

TEST(SmiMessagePassing, OfALinearLinkIsRidgeRegression) {
  // y = z without noise and fewer samples than dimensions: the posterior mean is the projection of
  // the teacher on the samples, of squared norm alpha.
  const MessagePassing result = run(*link_model("linear"), 600, 0.5, 3);
  ASSERT_EQ(result.end, StopReason::converged);
  EXPECT_NEAR(result.steps.back().block[0].norm, 0.5, chance_of_the_teacher);
  EXPECT_NEAR(result.steps.back().variance[0], 0.5, chance_of_the_samples);
  // The labels are explained: the residual is what Onsager's term has not taken off.
  EXPECT_NEAR(result.steps.back().block[0].norm, result.steps.back().block[0].overlap,
              tolerance_of_the_iteration);
}

/// y = (z_1 + z_2) / sqrt 2 with the fields in blocks of their own: labels say nothing of the
/// difference, and everything that is learned depends on both blocks.
struct SumLink {
  [[nodiscard]] static FieldShape shape() { return {1, {1, 1}}; }
  [[nodiscard]] static int label_size() { return 1; }
  [[nodiscard]] static double constraints() { return 0.0; }
  static void label(std::span<const double> z, std::span<double> y) {
    y[0] = (z[0] + z[1]) / std::numbers::sqrt2;
  }
  static double posterior(std::span<const double> y, std::span<const double> omega,
                          std::span<const double> v, std::span<double> mean,
                          std::span<double> second, std::span<double> cross) {
    const double total = v[0] + v[1];
    const double rest = std::numbers::sqrt2 * y[0] - omega[0] - omega[1];
    for (std::size_t b = 0; b < 2; ++b) {
      mean[b] = std::sqrt(v[b]) * rest / total;
      second[b] = mean[b] * mean[b] + 1.0 - v[b] / total;
    }
    cross[0] = mean[0] * mean[1] - std::sqrt(v[0] * v[1]) / total;
    return -0.5 * (rest * rest / total + std::log(std::numbers::pi * total));
  }
};

TEST(SmiMessagePassing, KnowsWhatBlocksHaveInCommon) {
  const auto model = make_model(SumLink{});
  const testing::ModelReport report = testing::check_model(*model);
  // The check of models rightly objects to one overlap per block, and to nothing else.
  for (const std::string& finding : report.findings)
    EXPECT_THAT(finding, HasSubstr("become correlated"));
  // Ridge regression of the sum: the projection of (w_1 + w_2) / sqrt 2 on the samples, of squared
  // norm alpha D, shared by both. Blocks taken as independent would have V_b = 1 - alpha / 4 or so.
  constexpr double alpha = 0.5;
  constexpr std::size_t dimension = 400;
  const Dataset data = draw_dataset(*model, dimension, 200, 5, 0, {});
  const MessagePassing result = message_passing(*model, data, {}, 0, {});
  ASSERT_EQ(result.end, StopReason::converged);
  const MessagePassingStep& last = result.steps.back();
  for (std::size_t b = 0; b < 2; ++b)
    EXPECT_NEAR(last.variance[b], 1.0 - alpha / 2.0, tolerance_of_the_iteration);
  double apart = 0.0, miss = 0.0;
  for (std::size_t d = 0; d < dimension; ++d) {
    apart = std::max(apart, std::abs(result.weights[d] - result.weights[dimension + d]));
  }
  for (std::size_t mu = 0; mu < data.samples; ++mu) {
    double y = 0.0;
    for (std::size_t d = 0; d < dimension; ++d) {
      y += (result.weights[d] + result.weights[dimension + d]) * data.inputs[mu * dimension + d];
    }
    miss = std::max(miss, std::abs(y / std::sqrt(2.0 * dimension) - data.labels[mu]));
  }
  // Equal weights but for the random start, and labels that are explained.
  EXPECT_LT(apart, 1e-2);
  EXPECT_LT(miss, 1e-2);
}

TEST(SmiMessagePassing, ABlockThatIsKnownToRoundingDisturbsNoOther) {
  // V of the first block falls by 6 an iteration while the second goes on being learned.
  const MessagePassing result = run(*link_model("staircase"), 200, 6.0, 2);
  EXPECT_FALSE(result.failed());
  EXPECT_LT(result.steps.back().variance[0], 1e-19);
  EXPECT_NEAR(result.steps.back().block[0].norm, result.steps.back().block[0].overlap,
              known_to_rounding);
  EXPECT_LT(result.steps.back().block[1].norm, 1.5);
  EXPECT_GT(result.steps.back().block[1].overlap, 0.6);
}

TEST(SmiMessagePassing, AnAttemptThatBreaksDownEndsAsDiverged) {
  // Next to no samples in few dimensions: V becomes singular or uneven beyond what can be
  // integrated. Every run must end all the same.
  const auto model = link_model("staircase");
  MessagePassingOptions options;
  options.restarts = 0;
  options.max_iterations = 60;
  for (std::uint64_t r = 0; r < 20; ++r) {
    const Dataset data = draw_dataset(*model, 8, 24, 1, r, {});
    EXPECT_FALSE(message_passing(*model, data, options, r, {}).steps.empty());
  }
}

TEST(SmiMessagePassing, ThreadsDoNotChangeANumber) {
  const auto model = attention(2);
  // More than two blocks of 64 samples.
  const MessagePassing one = run(*model, 160, 0.9, 0, testing::with_threads(1));
  const MessagePassing three = run(*model, 160, 0.9, 0, testing::with_threads(3));
  EXPECT_EQ(one.weights, three.weights);
  EXPECT_EQ(one.steps.size(), three.steps.size());
}

TEST(SmiMessagePassing, LabelsOfAnotherModelAreNotExplained) {
  // Labels that no teacher made: nothing can be recovered, and nothing is claimed.
  const auto model = attention(1);
  Dataset data = draw_dataset(*model, 150, 300, 5, 0, {});
  const Dataset other = draw_dataset(*model, 150, 300, 6, 0, {});
  data.labels = other.labels;
  const MessagePassing result = message_passing(*model, data, {}, 0, {});
  EXPECT_NE(result.end, StopReason::recovered);
  EXPECT_EQ(result.attempts, result.failed() ? 4 : result.attempts);
}

TEST(SmiMessagePassing, StopsOnRequest) {
  const auto model = attention(1);
  const Dataset data = draw_dataset(*model, 50, 50, 1, 0, {});
  std::stop_source source;
  source.request_stop();
  Context context;
  context.stop = source.get_token();
  EXPECT_THROW((void)message_passing(*model, data, {}, 0, context), Interrupted);
}

TEST(SmiMessagePassing, NamesTheOptionThatIsWrong) {
  const auto wrong = [](auto change) {
    return testing::wrong_option<MessagePassingOptions>(change);
  };
  EXPECT_EQ(wrong([](MessagePassingOptions& o) { o.start = 0.0; }), "start");
  EXPECT_EQ(wrong([](MessagePassingOptions& o) { o.max_iterations = 0; }), "max_iterations");
  EXPECT_EQ(wrong([](MessagePassingOptions& o) { o.restarts = -1; }), "restarts");
}

// A typed link takes another way to the same posterior: level sets instead of a closed form.
TEST(MessagePassing, ATypedLinkGivesWhatTheNamedOneGives) {
  const auto named = link_model("square");
  const auto typed = typed_model(std::make_shared<const TypedLink>("z1^2", 0.0), 1);
  const Dataset roots = draw_dataset(*named, 60, 90, 3, 0, {});
  Dataset squares = roots;
  for (double& y : squares.labels) y *= y;  // the named link describes a label by its root
  MessagePassingOptions options;
  options.max_iterations = 12;
  const MessagePassing a = message_passing(*named, roots, options, 0, {});
  const MessagePassing b = message_passing(*typed, squares, options, 0, {});
  ASSERT_EQ(a.steps.size(), b.steps.size());
  // Roots are found to 1e-13, and a dozen iterations magnify that.
  constexpr double magnified = 1e-6;
  for (std::size_t k = 0; k < a.weights.size(); ++k) {
    EXPECT_NEAR(a.weights[k], b.weights[k], magnified);
  }
}

TEST(MessagePassing, ADirectionOfWhichLabelsSayNothingLeavesTheOthersAlone) {
  const auto model = typed_model(std::make_shared<const TypedLink>("z2", 0.0), 1);
  const Dataset data = draw_dataset(*model, 60, 30, 3, 0, {});
  const MessagePassing run = message_passing(*model, data, {}, 0, {});
  EXPECT_FALSE(run.failed());
  const auto& blocks = run.steps.back().block;
  EXPECT_EQ(blocks[0].norm, 0.0);
  // Of the field itself the next V is 1 / (1 + alpha / V) whatever the data: at rest 1 - alpha.
  EXPECT_NEAR(run.steps.back().variance[1], 0.5, MessagePassingOptions{}.tolerance);
}

}  // namespace
}  // namespace onset::smi
