#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "aim/learners/adaptive_damping.hpp"
#include "onset/aim/learners/amp.hpp"
#include "onset/aim/learners/gradient_descent.hpp"
#include "onset/aim/limits/curve.hpp"
#include "onset/aim/model/orthant.hpp"
#include "onset/aim/model/output.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/random.hpp"
#include "onset/numerics/replicates.hpp"
#include "support/scale.hpp"

namespace onset::aim {
namespace {

AttentionIndexed model_of(ChannelKind channel, int tokens) {
  AttentionIndexed model;
  model.channel = channel;
  model.tokens = tokens;
  return model;
}

struct Problem {
  Teacher teacher;
  Dataset data;
};

Problem draw(const AttentionIndexed& model, std::size_t dim, double alpha,
             std::uint64_t index = 0) {
  Problem p;
  p.teacher = sample_teacher(model, dim, 1, index, {});
  p.data = sample_data(model, p.teacher, samples_of(alpha, dim), 1, index, {});
  return p;
}

TEST(AimData, ScoresHaveTheVariancesOfTheLimit) {
  // 4000 samples: a variance is known to 2.2 %; five of these, and the O(1/d) of Tr S^2.
  const auto model = model_of(ChannelKind::linear, 2);
  const Problem p = draw(model, 100, 0.4);
  double diagonal = 0.0;
  double off = 0.0;
  for (std::size_t s = 0; s < p.data.samples; ++s) {
    diagonal += std::pow(p.data.labels[4 * s], 2) / static_cast<double>(p.data.samples);
    off += std::pow(p.data.labels[4 * s + 1], 2) / static_cast<double>(p.data.samples);
  }
  double q0 = 0.0;
  for (const double x : p.teacher.matrix) q0 += x * x / 100.0;
  EXPECT_NEAR(q0, 1.51, 0.1);
  EXPECT_NEAR(off / q0, 1.0, 0.11);
  EXPECT_NEAR(diagonal / q0, 2.0, 0.22);
}

TEST(AimData, LabelsOfSoftmaxAreRowsOfProbabilities) {
  const Problem p = draw(model_of(ChannelKind::softmax, 3), 30, 0.1);
  for (std::size_t row = 0; row < p.data.samples * 3; ++row) {
    double sum = 0.0;
    for (std::size_t b = 0; b < 3; ++b) sum += std::exp(p.data.labels[3 * row + b]);
    EXPECT_NEAR(sum, 1.0, 1e-14);
  }
}

TEST(AimData, SoftmaxLabelsTellTheSameAtAnyTemperature) {
  // At beta = 1e5 most probabilities are below 1e-308; their logarithms are not. Rounding of log y
  // is that of beta h, so the scores come back to some units in the last place of h.
  auto warm = model_of(ChannelKind::softmax, 3);
  auto cold = warm;
  cold.beta = 1e5;
  const Problem one = draw(warm, 20, 0.1);
  const Problem other = draw(cold, 20, 0.1);
  const OutputFunction first(warm, one.data);
  const OutputFunction second(cold, other.data);
  const std::vector<double> variance(6, 1.0);
  const std::vector<double> omega(6, 0.0);
  std::vector<double> g(6);
  std::vector<double> h(6);
  for (std::size_t s = 0; s < one.data.samples; ++s) {
    first.gradient(s, omega, variance, g);
    second.gradient(s, omega, variance, h);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(g[i], h[i], 1e-13);
  }
}

TEST(AimData, TheFirstSamplesAreTheFirstSamples) {
  const Problem p = draw(model_of(ChannelKind::linear, 2), 10, 0.2);
  const Dataset part = p.data.first(7);
  EXPECT_EQ(part.samples, 7U);
  EXPECT_EQ(part.inputs.size(), 7U * 2 * 10);
  EXPECT_EQ(part.labels.size(), 7U * 4);
  EXPECT_EQ(part.inputs.back(), p.data.inputs[7 * 2 * 10 - 1]);
  EXPECT_EQ(part.labels.back(), p.data.labels[7 * 4 - 1]);
}

/// log Z_out of a softmax label by integrating over the unseen shift.
double log_softmax_evidence(const std::vector<double>& shown, const std::vector<double>& omega,
                            const std::vector<double>& variance) {
  double sum = 0.0;
  for (int i = -2000; i <= 2000; ++i) {
    double exponent = 0.0;
    for (std::size_t j = 0; j < shown.size(); ++j) {
      exponent -= std::pow(shown[j] + 0.005 * i - omega[j], 2) / (2.0 * variance[j]);
    }
    sum += std::exp(exponent);
  }
  return std::log(sum);
}

TEST(AimOutput, SoftmaxGradientIsTheSlopeOfTheEvidence) {
  auto model = model_of(ChannelKind::softmax, 3);
  model.beta = 1.7;
  const Problem p = draw(model, 20, 0.05);
  // The scores themselves are one choice of what is shown, up to the shift that is integrated.
  std::vector<double> products;
  std::vector<double> scores;
  scores_of(p.data, p.teacher.matrix, products, scores, {});
  const OutputFunction output(model, p.data);
  const std::vector<double> variance{0.8, 0.5, 0.4, 0.9, 0.3, 1.1};
  std::vector<double> omega{0.1, -0.2, 0.3, 0.2, 0.5, -0.4};
  std::vector<double> g(6);
  const std::vector<double> shown(scores.begin(), scores.begin() + 6);
  output.gradient(0, omega, variance, g);
  for (std::size_t i = 0; i < 6; ++i) {
    auto up = omega;
    auto down = omega;
    up[i] += 1e-5;
    down[i] -= 1e-5;
    const double slope =
        (log_softmax_evidence(shown, up, variance) - log_softmax_evidence(shown, down, variance)) /
        2e-5;
    EXPECT_NEAR(g[i], slope, 1e-6 * (1.0 + std::abs(slope)));
  }
}

TEST(AimOutput, HardmaxGradientIsTheSlopeOfTheEvidence) {
  const auto model = model_of(ChannelKind::hardmax, 2);
  Dataset data;
  data.tokens = 2;
  data.dim = 2;
  data.samples = 4;
  data.inputs.assign(16, 0.0);
  data.labels = {0, 0, 0, 1, 1, 0, 1, 1};
  const OutputFunction output(model, data);
  const std::vector<double> variance{0.8, 0.35, 0.6};
  const std::vector<double> omega{0.3, -0.1, -0.4};
  for (std::size_t s = 0; s < 4; ++s) {
    const double s1 = data.labels[2 * s] == 0.0 ? 1.0 : -1.0;
    const double s2 = data.labels[2 * s + 1] == 1.0 ? 1.0 : -1.0;
    const auto evidence = [&](const std::vector<double>& w) {
      const double r1 = std::sqrt(variance[0] + variance[1]);
      const double r2 = std::sqrt(variance[2] + variance[1]);
      return std::log(orthant(s1 * (w[0] - w[1]) / r1, s2 * (w[2] - w[1]) / r2,
                              s1 * s2 * variance[1] / (r1 * r2))
                          .probability);
    };
    std::vector<double> g(3);
    output.gradient(s, omega, variance, g);
    for (std::size_t i = 0; i < 3; ++i) {
      auto up = omega;
      auto down = omega;
      up[i] += 1e-5;
      down[i] -= 1e-5;
      EXPECT_NEAR(g[i], (evidence(up) - evidence(down)) / 2e-5, 1e-8);
    }
  }
}

TEST(AimOutput, WrongLabelsAreNamed) {
  auto model = model_of(ChannelKind::hardmax, 2);
  Problem p = draw(model, 10, 0.1);
  p.data.labels[3] = 2.0;
  EXPECT_THROW(OutputFunction(model, p.data), InvalidArgument);
  model = model_of(ChannelKind::softmax, 2);
  p = draw(model, 10, 0.1);
  for (const double log_y : {0.0, -std::numeric_limits<double>::infinity()}) {
    p.data.labels[0] = log_y;
    EXPECT_THROW(OutputFunction(model, p.data), InvalidArgument);
  }
  p = draw(model_of(ChannelKind::hardmax, 3), 10, 0.1);
  EXPECT_THROW(OutputFunction(model_of(ChannelKind::hardmax, 3), p.data), Refused);
}

TEST(AimOutput, LabelsOfScoresThatAreNotSymmetricAreRefused) {
  auto model = model_of(ChannelKind::linear, 2);
  Problem p = draw(model, 10, 0.1);
  p.data.labels[1] += 0.01;
  EXPECT_THROW(OutputFunction(model, p.data), InvalidArgument);
  // Two rows of a softmax can always be of symmetric scores, three not: turn the first one around.
  model = model_of(ChannelKind::softmax, 3);
  p = draw(model, 10, 0.1);
  std::rotate(p.data.labels.begin(), p.data.labels.begin() + 1, p.data.labels.begin() + 3);
  EXPECT_THROW(OutputFunction(model, p.data), InvalidArgument);
}

TEST(AimDamping, GrowsWhileStepsTurnBackAndEasesWhenTheyDoNot) {
  AdaptiveDamping damping(0.5, 1);
  damping.observe({1.0, 1.0, 1.0, 1.0, 1.0});
  EXPECT_EQ(damping(), 0.5);  // never below its start
  damping.observe({1.0, 1.0, -1.0, 1.0, 2.0});
  EXPECT_EQ(damping(), 0.5);  // V is still on its way
  damping.observe({0.5, 1.0, -0.7, 1.0, 1.0});
  EXPECT_EQ(damping(), 0.5);  // an oscillation that dies out by itself
  damping.observe({1.0, 1.0, -1.0, 1.0, 1.0});
  EXPECT_EQ(damping(), 0.75);
  damping.observe({1.0, 1.0, 0.9, 1.0, 1.0});
  EXPECT_NEAR(damping(), 1.0 - 1.1 * 0.25, 1e-15);
  AdaptiveDamping patient(0.5, 2);
  patient.observe({1.0, 1.0, -1.0, 1.0, 1.0});
  EXPECT_EQ(patient(), 0.5);
  patient.observe({1.0, 1.0, -1.0, 1.0, 1.0});
  EXPECT_EQ(patient(), 0.75);
  AdaptiveDamping none(0.0, 1);
  none.observe({1.0, 1.0, -1.0, 1.0, 1.0});
  EXPECT_EQ(none(), 0.0);
}

TEST(AimAmp, EndsAtTheSameFixedPointWhateverTheDamping) {
  // Few samples: with a damping of 1/2 that does not grow, this one turns back and forth for good.
  const auto model = model_of(ChannelKind::softmax, 2);
  const Problem p = draw(model, 60, 0.1);
  AmpOptions options;
  options.tolerance = 1e-5;  // of steps, squared; what is left may be ten steps
  const AmpRun one = approximate_message_passing(model, p.data, p.teacher.matrix, options, {});
  options.damping = 0.7;
  const AmpRun other = approximate_message_passing(model, p.data, p.teacher.matrix, options, {});
  EXPECT_TRUE(one.status.converged());
  EXPECT_TRUE(other.status.converged());
  EXPECT_LT(squared_distance(one.estimate, other.estimate, 60), 1e-3 * one.steps.back().variance);
}

TEST(AimAmp, FarAbovePerfectRecoveryADivergedRunIsTriedWithoutDamping) {
  const auto model = model_of(ChannelKind::linear, 2);
  const Problem p = draw(model, 30, 1.0);  // threshold 0.125
  AmpOptions options;
  options.settles = false;
  const AmpRun run = approximate_message_passing(model, p.data, p.teacher.matrix, options, {});
  EXPECT_TRUE(run.status.converged());
  EXPECT_LT(run.steps.back().mse, 1e-5);
}

TEST(AimAmp, IsTheSameForAnyNumberOfThreads) {
  const auto model = model_of(ChannelKind::softmax, 2);
  const Problem p = draw(model, 40, 0.2);
  AmpOptions options;
  options.max_iterations = 5;
  Context three;
  three.threads = 3;
  const AmpRun first = approximate_message_passing(model, p.data, p.teacher.matrix, options, {});
  const AmpRun second =
      approximate_message_passing(model, p.data, p.teacher.matrix, options, three);
  EXPECT_EQ(first.estimate, second.estimate);
}

TEST(AimAmp, CollapseIsReportedAsDivergence) {
  // Without damping, few samples: the variance falls far below any possible error.
  const auto model = model_of(ChannelKind::softmax, 2);
  const Problem p = draw(model, 40, 0.1);
  AmpOptions options;
  options.damping = 0.0;
  options.norm_aware = false;
  options.least_variance = 0.3 * 0.392;
  const AmpRun run = approximate_message_passing(model, p.data, p.teacher.matrix, options, {});
  EXPECT_EQ(run.status.reason, StopReason::diverged);
  EXPECT_FALSE(run.steps.empty());
}

/// Small sizes deviate systematically by some percent: 10 % are allowed, and five standard errors
/// (a false alarm in two million runs).
TEST(LongAimAmp, AgreesWithStateEvolution) {
  struct Case {
    ChannelKind channel;
    int tokens;
    double alpha;
  };
  for (const Case& c : {Case{ChannelKind::softmax, 2, 0.12}, Case{ChannelKind::softmax, 3, 0.05},
                        Case{ChannelKind::hardmax, 2, 0.4}, Case{ChannelKind::linear, 2, 0.08}}) {
    const auto model = model_of(c.channel, c.tokens);
    const double theory = StateEvolution(model, 1, {}).at(c.alpha).mmse.value;
    AmpOptions options;
    options.least_variance = 0.3 * theory;
    std::vector<double> errors;
    std::vector<double> gaps;
    const auto runs = static_cast<std::uint64_t>(std::max(2, testing::scaled(6)));
    for (std::uint64_t run = 0; run < runs; ++run) {
      const Problem p = draw(model, 100, c.alpha, run);
      const AmpRun amp = approximate_message_passing(model, p.data, p.teacher.matrix, options, {});
      EXPECT_NE(amp.status.reason, StopReason::diverged);
      errors.push_back(amp.steps.back().mse);
      gaps.push_back(amp.steps.back().mse - amp.steps.back().variance);
    }
    const Estimate mse = numerics::reduce(errors);
    EXPECT_NEAR(mse.value, theory, 0.1 * theory + 5.0 * mse.error) << c.tokens;
    const Estimate gap = numerics::reduce(gaps);  // Nishimori
    EXPECT_NEAR(gap.value, 0.0, 0.1 * theory + 5.0 * gap.error) << c.tokens;
  }
}

TEST(LongAimAmp, RecoversTheMatrixAbovePerfectRecovery) {
  const auto model = model_of(ChannelKind::softmax, 3);
  const Problem p = draw(model, 60, 0.2);  // threshold 0.075
  AmpOptions options;
  options.settles = false;
  const AmpRun run = approximate_message_passing(model, p.data, p.teacher.matrix, options, {});
  EXPECT_LT(run.steps.back().mse, 1e-4);
}

TEST(AimDescent, GradientAgreesWithFiniteDifferences) {
  for (const auto channel : {ChannelKind::softmax, ChannelKind::linear}) {
    auto model = model_of(channel, 3);
    model.beta = 1.3;
    const Problem p = draw(model, 8, 0.5);
    std::vector<double> w(8 * 4);
    numerics::Stream(5, "test weights").normal(w);
    std::vector<double> gradient;
    std::vector<double> unused;
    (void)label_loss(model, p.data, w, 4, gradient, {});
    for (const std::size_t i : {std::size_t{0}, std::size_t{7}, std::size_t{31}}) {
      auto up = w;
      auto down = w;
      up[i] += 1e-5;
      down[i] -= 1e-5;
      const double slope = (label_loss(model, p.data, up, 4, unused, {}) -
                            label_loss(model, p.data, down, 4, unused, {})) /
                           2e-5;
      EXPECT_NEAR(gradient[i], slope, 1e-6 * (1.0 + std::abs(slope)));
    }
  }
}

TEST(AimDescent, TheTeacherHasNoLoss) {
  const auto model = model_of(ChannelKind::softmax, 2);
  const Problem p = draw(model, 12, 0.5);
  std::vector<double> gradient;
  EXPECT_NEAR(label_loss(model, p.data, p.teacher.weights, p.teacher.width, gradient, {}), 0.0,
              1e-20);
}

TEST(AimDescent, AveragesAreBetterAndTheirLimitIsBetterStill) {
  const auto model = model_of(ChannelKind::softmax, 2);
  const Problem p = draw(model, 24, 0.1);
  DescentOptions options;
  options.steps = 300;
  options.starts = 4;
  const DescentErrors e = gradient_descent(model, p.data, p.teacher, options, {});
  const double single = numerics::mean(e.single);
  EXPECT_LT(e.averaged, single);
  EXPECT_LT(e.extrapolated, e.averaged);
  EXPECT_NEAR(e.averaged, e.extrapolated + (single - e.extrapolated) / 4.0, 1e-12);
  Context three;
  three.threads = 3;
  EXPECT_EQ(gradient_descent(model, p.data, p.teacher, options, three).single, e.single);
  std::vector<double> gradient;
  EXPECT_THROW((void)label_loss(model_of(ChannelKind::hardmax, 2), p.data, p.teacher.weights,
                                p.teacher.width, gradient, {}),
               Refused);
}

}  // namespace
}  // namespace onset::aim
