#include "aim/model/channel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "aim/learners/amp.hpp"
#include "aim/learners/gradient_descent.hpp"
#include "aim/limits/curve.hpp"
#include "aim/model/channels/exact_information.hpp"
#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "support/tolerances.hpp"
#include "unit/aim/problem.hpp"

namespace onset::aim {
namespace {

/// Shows the scores of different tokens alone: a channel as somebody else would write it, with what
/// docs/aim-channels.md says and nothing else.
class Pairs : public Channel {
 public:
  [[nodiscard]] std::string_view name() const override { return "pairs"; }
  [[nodiscard]] std::string_view shows() const override { return "scores of different tokens"; }
  [[nodiscard]] std::string_view stored() const override { return "n x T (T - 1) / 2 scores"; }
  [[nodiscard]] std::vector<std::size_t> label_shape(std::size_t tokens) const override {
    return {tokens * (tokens - 1) / 2};
  }
  void label(const AttentionIndexed& model, std::span<const double> scores,
             std::span<double> out) const override {
    each_pair(model, [&](std::size_t k, std::size_t a, std::size_t b, std::size_t tokens) {
      out[k] = scores[score_index(a, b, tokens)];
    });
  }
  [[nodiscard]] double shown(const AttentionIndexed& model) const override {
    return model.scores() - model.tokens;
  }
  [[nodiscard]] std::unique_ptr<const Information> information(
      const AttentionIndexed& model, std::uint64_t /*seed*/,
      const Context& /*context*/) const override {
    return std::make_unique<ExactInformation>(shown(model));
  }
  [[nodiscard]] std::unique_ptr<const OutputFunction> output(const AttentionIndexed& model,
                                                             const Dataset& data) const override {
    struct Output : OutputFunction {
      Output(const AttentionIndexed& m, const Dataset& d) : model(m), labels(d.labels) {}
      void gradient(std::size_t sample, std::span<const double> omega,
                    std::span<const double> variance, std::span<double> g) const override {
        std::fill(g.begin(), g.end(), 0.0);
        each_pair(model, [&](std::size_t k, std::size_t a, std::size_t b, std::size_t tokens) {
          const std::size_t i = score_index(a, b, tokens);
          const std::size_t each = tokens * (tokens - 1) / 2;
          g[i] = (labels[sample * each + k] - omega[i]) / variance[i];
        });
      }
      AttentionIndexed model;
      std::vector<double> labels;
    };
    return std::make_unique<Output>(model, data);
  }
  [[nodiscard]] double squared_error(const AttentionIndexed& model, std::span<const double> y,
                                     std::span<const double> scores,
                                     std::span<double> slope) const override {
    double loss = 0.0;
    std::fill(slope.begin(), slope.end(), 0.0);
    each_pair(model, [&](std::size_t k, std::size_t a, std::size_t b, std::size_t tokens) {
      const double error = scores[a * tokens + b] - y[k];
      loss += error * error;
      slope[a * tokens + b] = 2.0 * error;
    });
    return loss;
  }

 private:
  template <class Visit>
  static void each_pair(const AttentionIndexed& model, const Visit& visit) {
    const auto tokens = static_cast<std::size_t>(model.tokens);
    std::size_t k = 0;
    for (std::size_t a = 0; a < tokens; ++a) {
      for (std::size_t b = a + 1; b < tokens; ++b) visit(k++, a, b, tokens);
    }
  }
};

AttentionIndexed of_pairs(int tokens) {
  static const Pairs pairs;
  AttentionIndexed model;
  model.channel = &pairs;
  model.tokens = tokens;
  return model;
}

/// Every channel of the list with every number of tokens up to four, with noise where it takes
/// some.
std::vector<AttentionIndexed> all_models() {
  std::vector<AttentionIndexed> models{of_pairs(2), of_pairs(3)};
  for (const Channel* channel : channels()) {
    for (int tokens = channel->tokens().min; tokens <= 4; ++tokens) {
      AttentionIndexed model;
      model.channel = channel;
      model.tokens = tokens;
      models.push_back(model);
      if (!channel->takes_noise()) continue;
      for (const NoiseKind kind : {NoiseKind::scaled, NoiseKind::equal}) {
        model.noise_variance = 0.3;
        model.noise_kind = kind;
        models.push_back(model);
      }
    }
  }
  return models;
}

std::string name_of(const AttentionIndexed& model) {
  return std::string(model.channel->name()) + " of " + std::to_string(model.tokens);
}

/// Samples whose scores are omega + sqrt(V (1 + delta_ab)) z, with q in omega.
struct ScoredSamples {
  std::vector<double> omega;
  std::vector<double> variance;  ///< of one sample
  Dataset data;
};

ScoredSamples draw_scores(const AttentionIndexed& model, double q, double v, std::size_t samples) {
  const auto tokens = static_cast<std::size_t>(model.tokens);
  const std::size_t each = tokens * (tokens + 1) / 2;
  ScoredSamples out;
  out.omega.resize(samples * each);
  std::vector<double> z(samples * each);
  numerics::Stream(7, "test means").normal(out.omega);
  numerics::Stream(7, "test scores").normal(z);
  out.variance.resize(each);
  const std::size_t size = model.channel->label_size(tokens);
  out.data = {samples, tokens, 1, {}, std::vector<double>(samples * size)};
  std::vector<double> noise(samples * each);
  numerics::Stream(7, "test noise").normal(noise);
  for (std::size_t a = 0; a < tokens; ++a) {
    for (std::size_t b = a; b < tokens; ++b) {
      const std::size_t i = score_index(a, b, tokens);
      out.variance[i] = v * (a == b ? 2.0 : 1.0);
      for (std::size_t s = 0; s < samples; ++s) {
        out.omega[s * each + i] *= std::sqrt(q * (a == b ? 2.0 : 1.0));
        z[s * each + i] = out.omega[s * each + i] + std::sqrt(out.variance[i]) * z[s * each + i] +
                          std::sqrt(model.noise_on(a == b)) * noise[s * each + i];
      }
    }
  }
  for (std::size_t s = 0; s < samples; ++s) {
    model.channel->label(model, {z.data() + s * each, each},
                         {out.data.labels.data() + s * size, size});
  }
  return out;
}

/// q_hat from the output function is q_hat from state evolution: E sum_ab V_ab g_ab^2 = E_hat. Five
/// standard errors: a false alarm in two million runs.
TEST(AimChannels, OutputFunctionsHaveTheInformationOfTheirLabels) {
  const double q = 0.7;
  const double v = 0.8;
  for (const AttentionIndexed& model : all_models()) {
    if (!model.channel->no_output(model).empty()) continue;
    const bool slow = model.channel->output_seconds(model) > 1e-5;
    const ScoredSamples drawn = draw_scores(model, q, v, slow ? 1000 : 10000);
    const auto output = model.channel->output(model, drawn.data);
    const std::size_t each = drawn.variance.size();
    std::vector<double> sizes;
    std::vector<double> g(each);
    for (std::size_t s = 0; s < drawn.data.samples; ++s) {
      output->gradient(s, {drawn.omega.data() + s * each, each}, drawn.variance, g);
      sizes.push_back(0.0);
      for (std::size_t i = 0; i < each; ++i) sizes.back() += drawn.variance[i] * g[i] * g[i];
    }
    const Estimate found = numerics::reduce(sizes);
    const Estimate information = (*model.channel->information(model, 1, {}))(q, v);
    EXPECT_NEAR(found.value, information.value, 5.0 * std::hypot(found.error, information.error))
        << name_of(model);
    EXPECT_LE(information.error, 0.01 * information.value) << name_of(model);
  }
}

TEST(AimChannels, LabelsThatAreFixedExactlyAreCounted) {
  for (AttentionIndexed model : all_models()) {
    model.noise_variance = 0.0;
    const double shown = model.channel->shown(model);
    const double perfect = StateEvolution(model, 1, {}).perfect_recovery();
    if (shown == 0.0) {
      EXPECT_TRUE(std::isinf(perfect)) << name_of(model);
    } else {
      EXPECT_EQ((*model.channel->information(model, 1, {}))(0.7, 0.8).value, shown);
      EXPECT_DOUBLE_EQ(perfect, 0.75 / (2.0 * shown)) << name_of(model);
    }
  }
}

TEST(AimChannels, SlopesOfTheSquaredErrorAreItsDerivatives) {
  for (const AttentionIndexed& model : all_models()) {
    if (!model.channel->no_gradient().empty()) {
      EXPECT_THROW((void)model.channel->squared_error(model, {}, {}, {}), Refused);
      continue;
    }
    const ScoredSamples drawn = draw_scores(model, 0.7, 0.8, 1);
    const auto tokens = static_cast<std::size_t>(model.tokens);
    std::vector<double> scores(tokens * tokens);
    numerics::Stream(8, "test student").normal(scores);
    std::vector<double> slope(scores.size());
    std::vector<double> unused(scores.size());
    (void)model.channel->squared_error(model, drawn.data.labels, scores, slope);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      auto up = scores;
      auto down = scores;
      up[i] += 1e-5;
      down[i] -= 1e-5;
      const double difference =
          (model.channel->squared_error(model, drawn.data.labels, up, unused) -
           model.channel->squared_error(model, drawn.data.labels, down, unused)) /
          2e-5;
      EXPECT_NEAR(slope[i], difference, 1e-7 * (1.0 + std::abs(difference))) << name_of(model);
    }
  }
}

/// Small sizes deviate by some percent (10 % are allowed) beside the scatter of the runs.
TEST(AimChannels, AChannelOfOnesOwnWorksInLimitsAndLearners) {
  const AttentionIndexed model = of_pairs(2);
  const double alpha = 0.2;
  const double theory = StateEvolution(model, 1, {}).at(alpha).mmse.value;
  std::vector<double> ratios;
  for (std::uint64_t run = 0; run < 4; ++run) {
    const Problem p = draw(model, 60, alpha, run);
    const AmpRun amp = approximate_message_passing(model, p.data, p.teacher.matrix, {}, {});
    EXPECT_TRUE(amp.status.converged());
    ratios.push_back(amp.steps.back().mse / theory);
  }
  const Estimate ratio = numerics::mean_over_runs(ratios);
  EXPECT_NEAR(ratio.value, 1.0, 0.1 + 4.0 * ratio.error);
  const Problem p = draw(model, 12, 0.5);
  std::vector<double> gradient;
  EXPECT_NEAR(label_loss(model, p.data, p.teacher.weights, p.teacher.width, gradient, {}), 0.0,
              tolerance::squared_roundings);
}

TEST(AimChannels, NamesAreThoseOfTheListAndOthersAreNot) {
  for (const Channel* channel : channels()) EXPECT_EQ(&channel_named(channel->name()), channel);
  EXPECT_THROW((void)channel_named("softmin"), InvalidArgument);
}

TEST(AimChannels, WrongLabelsAreNamed) {
  auto model = model_of("hardmax", 2);
  Problem p = draw(model, 10, 0.1);
  p.data.labels[3] = 2.0;
  EXPECT_THROW((void)model.channel->output(model, p.data), InvalidArgument);
  model = model_of("softmax", 2);
  p = draw(model, 10, 0.1);
  for (const double log_y : {0.0, -std::numeric_limits<double>::infinity()}) {
    p.data.labels[0] = log_y;
    EXPECT_THROW((void)model.channel->output(model, p.data), InvalidArgument);
  }
  model = model_of("hardmax", 3);
  p = draw(model, 10, 0.1);
  EXPECT_NO_THROW((void)model.channel->output(model, p.data));
  for (const auto& circle : {std::array{1.0, 2.0, 0.0}, std::array{2.0, 0.0, 1.0}}) {
    std::copy(circle.begin(), circle.end(), p.data.labels.begin() + 6);
    EXPECT_THROW((void)model.channel->output(model, p.data), InvalidArgument);
  }
  model = model_of("hardmax", 4);
  EXPECT_THROW((void)model.channel->output(model, draw(model, 10, 0.1).data), Refused);
}

TEST(AimChannels, LabelsOfScoresThatAreNotSymmetricAreRefused) {
  auto model = model_of("linear", 2);
  Problem p = draw(model, 10, 0.1);
  p.data.labels[1] += 0.01;
  EXPECT_THROW((void)model.channel->output(model, p.data), InvalidArgument);
  // Two rows of a softmax can always be of symmetric scores, three not: turn the first one around.
  model = model_of("softmax", 3);
  p = draw(model, 10, 0.1);
  std::rotate(p.data.labels.begin(), p.data.labels.begin() + 1, p.data.labels.begin() + 3);
  EXPECT_THROW((void)model.channel->output(model, p.data), InvalidArgument);
}

}  // namespace
}  // namespace onset::aim
