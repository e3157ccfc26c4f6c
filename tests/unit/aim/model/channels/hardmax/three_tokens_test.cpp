#include "aim/model/channels/hardmax/three_tokens.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "aim/model/channels/hardmax/information.hpp"
#include "aim/model/channels/hardmax/orthant.hpp"
#include "numerics/random/stream.hpp"
#include "onset/numerics/replicates.hpp"
#include "support/scale.hpp"
#include "support/tolerances.hpp"

namespace onset::aim {
namespace {

/// The inner rule is good to 1e-10 of a probability, and rates divide by one of 1e-2.
constexpr double of_the_inner_rule = 1e-8;
/// Mills' ratio to its second term, 0.03, which is to be seen; the third is 2 / k^3, 1e-4.
constexpr double next_of_mills_series = 0.01;
/// Of a rate of 15 whose probability is below 1e-90, seven digits.
constexpr double of_an_improbable_label = 1e-6;

using Scores = std::array<double, 6>;
constexpr Scores plain{2.0, 1.0, 1.0, 2.0, 1.0, 2.0};

/// Calls f with every label.
template <class F>
void for_all_labels(const F& f) {
  for (int i = 0; i < 27; ++i) f(std::array<int, 3>{i / 9, i / 3 % 3, i % 3});
}

double probability(const std::array<int, 3>& label, const Scores& omega, const Scores& variance) {
  Scores g{};
  return three_token_label(label, omega, variance, g);
}

const Scores omega_of_tests{0.3, -0.8, 1.1, 0.2, 0.6, -1.4};
const Scores variance_of_tests{0.9, 0.5, 0.4, 1.2, 0.7, 1.0};

TEST(AimThreeTokens, ProbabilitiesOfAllLabelsAddUpToOne) {
  for (const double scale : {0.1, 1.0, 10.0}) {
    double total = 0.0;
    Scores omega = omega_of_tests;
    for (double& x : omega) x *= scale;
    for_all_labels([&](const auto& y) { total += probability(y, omega, variance_of_tests); });
    EXPECT_NEAR(total, 1.0, tolerance::magnified_roundings) << scale;
  }
}

TEST(AimThreeTokens, LabelsThatNoScoresGiveHaveNoProbability) {
  // Each pair's score would have to be above the next one's, around the circle.
  EXPECT_EQ(probability({1, 2, 0}, omega_of_tests, variance_of_tests), 0.0);
  EXPECT_EQ(probability({2, 0, 1}, omega_of_tests, variance_of_tests), 0.0);
}

TEST(AimThreeTokens, GradientsAreDerivativesOfTheLogarithm) {
  constexpr double step = 1e-4;
  for_all_labels([](const auto& y) {
    Scores g{};
    if (three_token_label(y, omega_of_tests, variance_of_tests, g) == 0.0) return;
    double sum = 0.0;
    for (std::size_t i = 0; i < 6; ++i) {
      Scores up = omega_of_tests;
      Scores down = omega_of_tests;
      up[i] += step;
      down[i] -= step;
      const double slope = std::log(probability(y, up, variance_of_tests) /
                                    probability(y, down, variance_of_tests)) /
                           (2.0 * step);
      EXPECT_NEAR(g[i], slope, tolerance::coarse_difference_quotient)
          << y[0] << y[1] << y[2] << " " << i;
      sum += g[i];
    }
    EXPECT_NEAR(sum, 0.0, of_the_inner_rule);  // labels do not change when all scores are shifted
  });
}

TEST(AimThreeTokens, ATokenThatNeverWinsLeavesTwo) {
  const double far = -20.0;
  const Scores omega{0.3, -0.2, far, 0.9, far, 0.0};
  Scores g{};
  const double z = three_token_label({0, 0, 2}, omega, plain, g);
  const double root = std::sqrt(3.0);
  // Row 1 has its diagonal above, row 2 below the score of the pair.
  const Orthant two = orthant(0.5 / root, -1.1 / root, -1.0 / 3.0);
  EXPECT_NEAR(z, two.probability, tolerance::magnified_roundings);
  EXPECT_NEAR(g[0], two.rate1 / root, of_the_inner_rule);
  EXPECT_NEAR(g[3], -two.rate2 / root, of_the_inner_rule);
  EXPECT_NEAR(g[2], 0.0, of_the_inner_rule);
}

TEST(AimThreeTokens, TokensCanBeRenamed) {
  // 0 -> 1 -> 2 -> 0; scores (0,0), (0,1), (0,2), (1,1), (1,2), (2,2).
  const auto renamed = [](const Scores& s) { return Scores{s[5], s[2], s[4], s[0], s[1], s[3]}; };
  Scores g{};
  Scores other{};
  const double z = three_token_label({1, 1, 0}, omega_of_tests, variance_of_tests, g);
  const double same =
      three_token_label({1, 2, 2}, renamed(omega_of_tests), renamed(variance_of_tests), other);
  EXPECT_NEAR(same, z, tolerance::thousands_of_roundings);
  const Scores expected = renamed(g);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(other[i], expected[i], tolerance::magnified_roundings) << i;
}

TEST(AimThreeTokens, ImprobableLabelsKeepTheirGradientAndImpossibleOnesHaveNone) {
  // The largest score of a row against a label that says another one; Mills' ratio for one pair.
  const Scores omega{-60.0, 0.0, -30.0, -60.0, -30.0, 40.0};
  Scores g{};
  EXPECT_GT(three_token_label({2, 0, 2}, omega, plain, g), 0.0);
  const double k = 30.0 / std::sqrt(2.0);  // h_02 > h_01
  EXPECT_NEAR(g[2], (k + 1.0 / k) / std::sqrt(2.0), next_of_mills_series);
  EXPECT_NEAR(g[1], -g[2], of_an_improbable_label);
  const Scores hopeless{-60.0, 0.0, -90.0, -60.0, -90.0, 40.0};
  EXPECT_EQ(three_token_label({2, 0, 2}, hopeless, plain, g), 0.0);
  EXPECT_TRUE(std::isnan(g[2]));
}

/// E |E[z|y,omega]|^2 = E_omega sum_y Z sum_ab V_ab g_ab^2, labels summed exactly: the table comes
/// from Gibbs sampling. Five standard errors: a false alarm in two million runs.
TEST(LongAimThreeTokens, GiveTheInformationThatTheTableHas) {
  const auto table = hardmax_information(3, {}, 1, {});
  for (const double lambda : {0.5, 5.0}) {
    numerics::Stream stream(7, "test three tokens");
    std::vector<double> values;
    for (int i = 0; i < testing::scaled(600); ++i) {
      Scores omega{};
      stream.normal(omega);
      for (std::size_t s = 0; s < 6; ++s) omega[s] *= std::sqrt(lambda * plain[s]);
      double information = 0.0;
      for_all_labels([&](const auto& y) {
        Scores g{};
        const double z = three_token_label(y, omega, plain, g);
        for (std::size_t s = 0; z > 0.0 && s < 6; ++s) information += z * plain[s] * g[s] * g[s];
      });
      values.push_back(information);
    }
    const Estimate mean = numerics::reduce(values);
    const Estimate known = (*table)(lambda);
    EXPECT_NEAR(mean.value, known.value, 5.0 * std::hypot(mean.error, known.error)) << lambda;
    if (testing::at_full_size()) {
      EXPECT_LT(mean.error, 0.03 * mean.value);
    }
  }
}

}  // namespace
}  // namespace onset::aim
