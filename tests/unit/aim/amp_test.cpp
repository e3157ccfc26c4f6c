#include "onset/aim/learners/amp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <vector>

#include "aim/learners/adaptive_damping.hpp"
#include "onset/aim/limits/curve.hpp"
#include "onset/aim/limits/spectrum.hpp"
#include "onset/aim/model/output.hpp"
#include "onset/numerics/linear_algebra.hpp"
#include "onset/numerics/replicates.hpp"
#include "support/scale.hpp"
#include "unit/aim/problem.hpp"

namespace onset::aim {
namespace {

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

/// [aim 28] as it is written, with the d x d matrix Z_ab of every score, damped by a half.
class PlainMessagePassing {
 public:
  PlainMessagePassing(const AttentionIndexed& model, const Dataset& data)
      : model_(model), data_(data), output_(model, data), d_(data.dim), s_(d_ * d_, 0.0) {
    for (std::size_t i = 0; i < d_; ++i) s_[i * d_ + i] = std::sqrt(model.rho);
    anchor_ = s_;
    const double root = std::sqrt(static_cast<double>(d_));
    for (std::size_t s = 0; s < data.samples; ++s) {
      for (std::size_t a = 0; a < data.tokens; ++a) {
        for (std::size_t b = a; b < data.tokens; ++b) {
          const double* x = &data.inputs[(s * data.tokens + a) * d_];
          const double* y = &data.inputs[(s * data.tokens + b) * d_];
          double xx = 0.0;
          double yy = 0.0;
          std::vector<double> z(d_ * d_);
          for (std::size_t i = 0; i < d_; ++i) {
            xx += x[i] * x[i] / static_cast<double>(d_);
            yy += y[i] * y[i] / static_cast<double>(d_);
            for (std::size_t j = 0; j < d_; ++j) {
              const double one = a == b && i == j ? 1.0 : 0.0;
              z[i * d_ + j] = (0.5 * (x[i] * y[j] + x[j] * y[i]) - one) / root;
            }
          }
          z_.push_back(z);
          relative_.push_back((a == b ? 2.0 : 1.0) * xx * yy);
        }
      }
    }
    g_.assign(z_.size(), 0.0);
  }

  const std::vector<double>& iterate() {
    const std::size_t each = data_.tokens * (data_.tokens + 1) / 2;
    const double keep = omega_.empty() ? 0.0 : 0.5;
    omega_.resize(z_.size(), 0.0);
    std::vector<double> variance(z_.size());
    for (std::size_t m = 0; m < z_.size(); ++m) {
      variance[m] = v_ * relative_[m];
      double h = 0.0;
      for (std::size_t i = 0; i < d_ * d_; ++i) h += z_[m][i] * s_[i];
      omega_[m] = keep * omega_[m] + (1.0 - keep) * (h - variance[m] * g_[m]);
    }
    double q_hat = 0.0;
    for (std::size_t s = 0; s < data_.samples; ++s) {
      output_.gradient(s, {&omega_[s * each], each}, {&variance[s * each], each},
                       {&g_[s * each], each});
    }
    for (std::size_t i = 0; i < d_ * d_; ++i) anchor_[i] = keep * anchor_[i] + (1 - keep) * s_[i];
    std::vector<double> r(d_ * d_, 0.0);
    for (std::size_t m = 0; m < z_.size(); ++m) {
      q_hat += 2.0 * relative_[m] * g_[m] * g_[m] / static_cast<double>(d_ * d_);
      for (std::size_t i = 0; i < d_ * d_; ++i) r[i] += g_[m] * z_[m][i];
    }
    for (std::size_t i = 0; i < d_ * d_; ++i) {
      r[i] = anchor_[i] + 2.0 / (static_cast<double>(d_) * q_hat) * r[i];
    }
    denoise(r, q_hat);
    if (model_.channel == ChannelKind::hardmax) set_length();
    v_ = 0.75 * v_ + 0.25 * asked_;
    return s_;
  }

 private:
  void denoise(std::vector<double> r, double q_hat) {
    std::vector<double> values(d_);
    numerics::symmetric_eigen(d_, r, values);
    const Spectrum spectrum(model_.rho, 1.0 / q_hat);
    std::fill(s_.begin(), s_.end(), 0.0);
    for (std::size_t k = 0; k < d_; ++k) {
      const double xi = spectrum.denoiser(values[k]);
      for (std::size_t i = 0; i < d_ * d_; ++i) {
        s_[i] += xi * r[k * d_ + i / d_] * r[k * d_ + i % d_];
      }
    }
    asked_ = spectrum.mmse().value;
  }

  /// ||S_hat||^2 / d = Q_0 + 1/d - V.
  void set_length() {
    double now = 0.0;
    for (const double x : s_) now += x * x / static_cast<double>(d_);
    const double wanted = 1.0 + model_.rho + 1.0 / static_cast<double>(d_) - asked_;
    for (double& x : s_) x *= std::sqrt(wanted / now);
  }

  const AttentionIndexed& model_;
  const Dataset& data_;
  OutputFunction output_;
  std::size_t d_;
  std::vector<std::vector<double>> z_;
  std::vector<double> relative_, omega_, g_, s_, anchor_;
  double v_ = 1.0;
  double asked_ = 1.0;
};

TEST(AimAmp, IsTheAlgorithmWrittenOutWithAMatrixForEveryScore) {
  auto noisy = model_of(ChannelKind::linear, 2);
  noisy.noise = 0.3;
  noisy.noise_kind = NoiseKind::equal;
  for (const auto& model : {model_of(ChannelKind::softmax, 3), model_of(ChannelKind::linear, 3),
                            model_of(ChannelKind::hardmax, 2), noisy}) {
    const Problem p = draw(model, 10, 0.3);
    PlainMessagePassing plain(model, p.data);
    AmpOptions options;
    for (int iterations = 1; iterations <= 3; ++iterations) {
      options.max_iterations = iterations;
      const auto estimate = approximate_message_passing(model, p.data, {}, options, {}).estimate;
      EXPECT_LT(squared_distance(estimate, plain.iterate(), 10), 1e-20) << iterations;
    }
  }
}

TEST(AimAmp, HardmaxEstimatesHaveTheLengthThatThePriorKnows) {
  const auto model = model_of(ChannelKind::hardmax, 2);
  const Problem p = draw(model, 40, 0.5);
  AmpOptions options;
  options.tolerance = 1e-8;
  const AmpRun run = approximate_message_passing(model, p.data, p.teacher.matrix, options, {});
  ASSERT_TRUE(run.status.converged());
  const AmpStep& last = run.steps.back();
  EXPECT_NEAR(last.self_overlap, 1.5 + 1.0 / 40.0 - last.variance, 1e-3);
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

TEST(AimAmp, AFewSamplesInManyDimensionsDoNotExplode) {
  // alpha d = 6: single samples stand out of the noise [aim 34]. At the full outliers the first
  // estimate is half again too long, the more so the larger d is.
  const auto model = model_of(ChannelKind::softmax, 2);
  const Problem p = draw(model, 200, 0.03);
  AmpOptions options;
  options.max_iterations = 40;
  const AmpRun run = approximate_message_passing(model, p.data, p.teacher.matrix, options, {});
  ASSERT_TRUE(run.status.converged());
  const double overlap = StateEvolution(model, 1, {}).at(0.03).overlap.value;
  EXPECT_LT(run.steps.front().self_overlap, 1.1 * overlap);
  EXPECT_NEAR(run.steps.back().mse, 1.5 - overlap, 0.05);
}

TEST(AimAmp, ASecondAttemptThatIsNotFinishedIsGiven) {
  // The first one is diverged by decree after a few iterations; the second, with other damping, is
  // still above that variance at the end.
  const auto model = model_of(ChannelKind::softmax, 2);
  const Problem p = draw(model, 30, 0.13);
  AmpOptions options;
  options.max_iterations = 8;
  options.tolerance = 1e-12;
  AmpOptions free = options;
  const AmpRun fast = approximate_message_passing(model, p.data, p.teacher.matrix, free, {});
  free.damping = 0.8;
  const AmpRun slow = approximate_message_passing(model, p.data, p.teacher.matrix, free, {});
  const double between = 0.5 * (fast.steps.back().variance + slow.steps.back().variance);
  ASSERT_LT(fast.steps.back().variance, between);
  options.least_variance = between;
  const AmpRun run = approximate_message_passing(model, p.data, p.teacher.matrix, options, {});
  EXPECT_EQ(run.status.reason, StopReason::max_iterations);
  EXPECT_EQ(run.estimate, slow.estimate);
  EXPECT_EQ(run.steps.size(), 8U);
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

/// Error of an AMP run over theory's, and the same of its gap to the algorithm's own variance.
struct RelativeErrors {
  std::vector<double> mse;
  std::vector<double> gap;
};

RelativeErrors relative_errors(const AttentionIndexed& model, double alpha, std::uint64_t runs) {
  const double theory = StateEvolution(model, 1, {}).at(alpha).mmse.value;
  AmpOptions options;
  options.least_variance = 0.3 * theory;
  RelativeErrors out;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const Problem p = draw(model, 100, alpha, run);
    const AmpRun amp = approximate_message_passing(model, p.data, p.teacher.matrix, options, {});
    EXPECT_NE(amp.status.reason, StopReason::diverged);
    out.mse.push_back(amp.steps.back().mse / theory);
    out.gap.push_back((amp.steps.back().mse - amp.steps.back().variance) / theory);
  }
  return out;
}

/// Standard error of a group's mean, from the scatter within all groups together.
double pooled_error(const std::vector<std::vector<double>>& groups) {
  double sum = 0.0;
  for (const auto& group : groups) sum += std::pow(numerics::reduce(group).error, 2);
  return std::sqrt(sum / static_cast<double>(groups.size()));
}

/// Small sizes deviate systematically by some percent: 10 % are allowed, and as many standard
/// errors as Student's law exceeds once in a million (6.9 at 20 degrees of freedom: four cases of
/// six runs). Relative scatter is much the same in all cases, so that it is pooled.
TEST(LongAimAmp, AgreesWithStateEvolution) {
  const auto runs = static_cast<std::uint64_t>(std::max(4, testing::scaled(6)));
  std::vector<std::vector<double>> errors;
  std::vector<std::vector<double>> gaps;
  const auto add = [&](ChannelKind channel, int tokens, double alpha) {
    const RelativeErrors found = relative_errors(model_of(channel, tokens), alpha, runs);
    errors.push_back(found.mse);
    gaps.push_back(found.gap);
  };
  add(ChannelKind::softmax, 2, 0.12);
  add(ChannelKind::softmax, 3, 0.05);
  add(ChannelKind::hardmax, 2, 0.4);
  add(ChannelKind::linear, 2, 0.08);
  const boost::math::students_t law(static_cast<double>(errors.size() * (runs - 1)));
  const double factor = boost::math::quantile(complement(law, 0.5e-6));
  for (std::size_t i = 0; i < errors.size(); ++i) {
    EXPECT_NEAR(numerics::mean(errors[i]), 1.0, 0.1 + factor * pooled_error(errors)) << i;
    // Nishimori
    EXPECT_NEAR(numerics::mean(gaps[i]), 0.0, 0.1 + factor * pooled_error(gaps)) << i;
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

}  // namespace
}  // namespace onset::aim
