#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "aim/model/channel.hpp"
#include "aim/model/token_products.hpp"
#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "support/tolerances.hpp"
#include "unit/aim/problem.hpp"

namespace onset::aim {
namespace {

TEST(AimSoftmax, LabelsOfSoftmaxAreRowsOfProbabilities) {
  const Problem p = draw(model_of("softmax", 3), 30, 0.1);
  for (std::size_t row = 0; row < p.data.samples * 3; ++row) {
    double sum = 0.0;
    for (std::size_t b = 0; b < 3; ++b) sum += std::exp(p.data.labels[3 * row + b]);
    EXPECT_NEAR(sum, 1.0, tolerance::dozens_of_roundings);
  }
}

TEST(AimSoftmax, SoftmaxLabelsTellTheSameAtAnyTemperature) {
  // At beta = 1e5 most probabilities are below 1e-308; their logarithms are not. Rounding of log y
  // is that of beta h, so the scores come back to some units in the last place of h.
  auto warm = model_of("softmax", 3);
  auto cold = warm;
  cold.beta = 1e5;
  const Problem one = draw(warm, 20, 0.1);
  const Problem other = draw(cold, 20, 0.1);
  const auto first = warm.channel->output(warm, one.data);
  const auto second = cold.channel->output(cold, other.data);
  const std::vector<double> variance(6, 1.0);
  const std::vector<double> omega(6, 0.0);
  std::vector<double> g(6);
  std::vector<double> h(6);
  for (std::size_t s = 0; s < one.data.samples; ++s) {
    first->gradient(s, omega, variance, g);
    second->gradient(s, omega, variance, h);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(g[i], h[i], tolerance::hundreds_of_roundings);
  }
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

TEST(AimSoftmax, GradientIsTheSlopeOfTheEvidence) {
  auto model = model_of("softmax", 3);
  model.beta = 1.7;
  const Problem p = draw(model, 20, 0.05);
  // The scores themselves are one choice of what is shown, up to the shift that is integrated.
  std::vector<double> scores(p.data.samples * 6);
  scores_of(*token_products(p.data, {}), p.teacher.matrix, 3, scores);
  const auto output = model.channel->output(model, p.data);
  const std::vector<double> variance{0.8, 0.5, 0.4, 0.9, 0.3, 1.1};
  std::vector<double> omega{0.1, -0.2, 0.3, 0.2, 0.5, -0.4};
  std::vector<double> g(6);
  const std::vector<double> shown(scores.begin(), scores.begin() + 6);
  output->gradient(0, omega, variance, g);
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

TEST(AimSoftmax, NoiseInProportionToTheScoresIsMoreVariance) {
  auto model = model_of("softmax", 3);
  model.noise_variance = 0.4;
  const auto information = model.channel->information(model, 1, {});
  EXPECT_NEAR((*information)(0.5, 0.7).value, 5.0 * 0.7 / 1.1, tolerance::dozens_of_roundings);
  model.noise_variance = 1e-12;
  // So little noise takes 5 * 1e-12 / 0.7 = 7e-12 of the information, and rounding takes no more.
  constexpr double little_noise = 1e-10;
  EXPECT_NEAR((*model.channel->information(model, 1, {}))(0.5, 0.7).value, 5.0, little_noise);
}

/// E_hat = E sum V_ab g_ab^2 over drawn labels, for noise that does not follow the scores' own
/// variances.
TEST(AimSoftmax, TheOutputFunctionOfNoisyLabelsHasTheirInformation) {
  auto model = model_of("softmax", 3);
  model.noise_variance = 0.4;
  model.noise_kind = NoiseKind::equal;
  const double v = 0.7;
  Dataset data;
  data.samples = 20000;
  data.tokens = 3;
  data.dim = 1;
  data.labels.resize(data.samples * 9);
  std::vector<double> z(data.samples * 12);
  numerics::Stream(1, "softmax noise test").normal(z);
  std::vector<double> variance(6, v);
  for (std::size_t a = 0; a < 3; ++a) variance[score_index(a, a, 3)] = 2.0 * v;
  for (std::size_t s = 0; s < data.samples; ++s) {
    std::vector<double> h(6);
    for (std::size_t i = 0; i < 6; ++i) {
      h[i] = std::sqrt(variance[i]) * z[12 * s + i] + std::sqrt(0.4) * z[12 * s + 6 + i];
    }
    model.channel->label(model, h, {data.labels.data() + 9 * s, 9});
  }
  const auto output = model.channel->output(model, data);
  const std::vector<double> omega(6, 0.0);
  std::vector<double> g(6);
  std::vector<double> sums(data.samples);
  for (std::size_t s = 0; s < data.samples; ++s) {
    output->gradient(s, omega, variance, g);
    for (std::size_t i = 0; i < 6; ++i) sums[s] += variance[i] * g[i] * g[i];
  }
  const Estimate found = numerics::reduce(sums);
  const double expected = (*model.channel->information(model, 1, {}))(0.0, v).value;
  EXPECT_NEAR(found.value, expected, 5.0 * found.error);  // false alarm 6e-7
}

// The squared error of probabilities is 0 for the scores that made them, and its slopes are those
// of differences elsewhere.
TEST(AimSoftmax, TheSquaredErrorOfProbabilitiesHasItsSlopes) {
  auto model = model_of("softmax", 3);
  model.beta = 1.3;
  const std::vector<double> truth = {0.3, -0.4, 1.1, -0.4, 0.9, 0.2, 1.1, 0.2, -0.7};
  std::vector<double> log_y(9);
  for (std::size_t a = 0; a < 3; ++a) {
    double sum = 0.0;
    for (std::size_t b = 0; b < 3; ++b) sum += std::exp(model.beta * truth[3 * a + b]);
    for (std::size_t b = 0; b < 3; ++b) {
      log_y[3 * a + b] = model.beta * truth[3 * a + b] - std::log(sum);
    }
  }
  std::vector<double> slope(9);
  EXPECT_NEAR(model.channel->squared_error(model, log_y, truth, slope), 0.0,
              tolerance::squared_roundings);
  std::vector<double> scores = {0.1, 0.5, -0.2, 0.5, -1.0, 0.4, -0.2, 0.4, 0.8};
  const std::vector<double> at = scores;
  std::vector<double> unused(9);
  (void)model.channel->squared_error(model, log_y, at, slope);
  constexpr double step = 1e-5;
  for (std::size_t k = 0; k < 9; ++k) {
    scores = at;
    scores[k] += step;
    const double above = model.channel->squared_error(model, log_y, scores, unused);
    scores[k] -= 2.0 * step;
    const double below = model.channel->squared_error(model, log_y, scores, unused);
    EXPECT_NEAR(slope[k], (above - below) / (2.0 * step), tolerance::difference_quotient) << k;
  }
}

TEST(AimSoftmax, EveryRowOfALabelIsLookedAt) {
  const auto model = model_of("softmax", 3);
  for (std::size_t row = 0; row < 3; ++row) {
    Problem p = draw(model, 5, 0.1);
    p.data.labels[3 * row] += 0.1;
    EXPECT_THROW(static_cast<void>(model.channel->output(model, p.data)), InvalidArgument) << row;
  }
}

}  // namespace
}  // namespace onset::aim
