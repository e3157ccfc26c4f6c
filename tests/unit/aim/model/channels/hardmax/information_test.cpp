#include "aim/model/channels/hardmax/information.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

#include "aim/model/channels/hardmax/nodes.hpp"
#include "aim/model/channels/hardmax/orthant.hpp"
#include "numerics/random/stream.hpp"
#include "support/scale.hpp"
#include "support/tolerances.hpp"

namespace onset::aim {
namespace {

/// A number of the theory, with seven digits.
constexpr double seventh_digit = 1e-7;
/// Steps of a quarter of a deviation are good to 1e-9; six deviations leave out 1e-8.
constexpr double of_a_coarse_rule = 2e-8;

double cdf(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}
double density(double x) {
  return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}

/// P(x1 < h, x2 < k) by integrating over x1 with the trapezoid rule in s = h - x1 = e^y.
double orthant_by_quadrature(double h, double k, double c) {
  double sum = 0.0;
  constexpr double step = 1.0 / 64.0;
  for (int i = -40 * 64; i <= 4 * 64; ++i) {
    const double s = std::exp(step * i);
    sum += step * s * density(h - s) * cdf((k - c * (h - s)) / std::sqrt(1.0 - c * c));
  }
  return sum;
}

TEST(AimOrthant, AgreesWithQuadrature) {
  for (const double c : {-0.5, -1.0 / 3.0, 0.0, 0.3, 0.5}) {
    for (const double h : {-6.0, -2.0, 0.0, 1.0, 4.0}) {
      for (const double k : {-5.0, -1.0, 0.5, 3.0}) {
        const double p = orthant_by_quadrature(h, k, c);
        const Orthant o = orthant(h, k, c);
        EXPECT_NEAR(o.probability, p, tolerance::hundreds_of_roundings)
            << h << " " << k << " " << c;
        const double rate = density(h) * cdf((k - c * h) / std::sqrt(1.0 - c * c)) / p;
        EXPECT_NEAR(o.rate1, rate, 1e-9 * (1.0 + rate)) << h << " " << k << " " << c;
      }
    }
  }
}

TEST(AimOrthant, RatesStayAccurateWhereTheProbabilityUnderflows) {
  for (const double c : {-1.0 / 3.0, 1.0 / 3.0}) {
    for (const double k : {-30.0, -60.0}) {
      const Orthant o = orthant(k, k, c);
      // Far out the mass sits at the corner: log P ~ -k^2/(1+c), its slope along the diagonal
      // -2k/(1+c), half of it for each argument.
      EXPECT_NEAR(o.rate1, -k / (1.0 + c), 0.05 * -k / (1.0 + c));
      EXPECT_NEAR(o.rate1, o.rate2, 1e-10 * o.rate1);
      const Orthant swapped = orthant(k, k + 2.0, c);
      EXPECT_NEAR(swapped.rate1, orthant(k + 2.0, k, c).rate2, 1e-10 * swapped.rate1);
    }
  }
}

/// The columns of the largest entries of all rows as one number.
int label_of(const std::vector<double>& h, std::size_t tokens) {
  int label = 0;
  for (std::size_t a = 0; a < tokens; ++a) {
    const auto row = h.begin() + static_cast<std::ptrdiff_t>(a * tokens);
    const auto best = std::max_element(row, row + static_cast<std::ptrdiff_t>(tokens));
    label = label * static_cast<int>(tokens) + static_cast<int>(best - row);
  }
  return label;
}

/// E |E[z | y, omega]|^2 with no formula but the definition: plain sampling of z for many omega,
/// two independent halves of it so that squares have no bias.
Estimate nested_monte_carlo(std::size_t tokens, double q, double v, std::size_t outer,
                            std::size_t inner) {
  numerics::Stream stream(3, "test nested");
  const std::size_t scores = tokens * (tokens + 1) / 2;
  std::vector<double> values;
  std::vector<double> means(scores);
  std::vector<double> z(scores);
  std::vector<double> h(tokens * tokens);
  for (std::size_t o = 0; o < outer; ++o) {
    stream.normal(means);
    // label -> halves of (count, sums of z)
    std::map<int, std::array<std::vector<double>, 2>> sums;
    for (std::size_t i = 0; i < inner; ++i) {
      stream.normal(z);
      std::size_t k = 0;
      for (std::size_t a = 0; a < tokens; ++a) {
        for (std::size_t b = a; b < tokens; ++b, ++k) {
          const double deviation = a == b ? std::numbers::sqrt2 : 1.0;
          h[a * tokens + b] = h[b * tokens + a] =
              deviation * (std::sqrt(q) * means[k] + std::sqrt(v) * z[k]);
        }
      }
      auto& half = sums[label_of(h, tokens)][i % 2];
      half.resize(scores + 1);
      half[0] += 1.0;
      for (std::size_t j = 0; j < scores; ++j) half[j + 1] += z[j];
    }
    double information = 0.0;  // sum over labels of P |E z|^2 = N_1 . N_2 / P
    for (auto& [label, halves] : sums) {
      if (halves[0].empty() || halves[1].empty()) continue;
      const double p = (halves[0][0] + halves[1][0]) / static_cast<double>(inner);
      for (std::size_t j = 1; j <= scores; ++j) {
        information += halves[0][j] * halves[1][j] * 4.0 /
                       (static_cast<double>(inner) * static_cast<double>(inner) * p);
      }
    }
    values.push_back(information);
  }
  return numerics::reduce(values);
}

/// Five standard errors: a false alarm in two million runs; 1 % for the bias of 1/P.
TEST(LongAimHardmax, PairAgreesWithNestedSamplingWithoutGradients) {
  for (const auto& [q, v] : {std::pair{0.5, 1.0}, std::pair{1.0, 0.5}}) {
    const Estimate sampled =
        nested_monte_carlo(2, q, v, static_cast<std::size_t>(testing::scaled(3000)), 4000);
    const double exact = hardmax_pair_information(q / v, {});
    EXPECT_NEAR(sampled.value, exact, 5.0 * sampled.error + 0.01 * exact);
  }
}

/// The same for three tokens, whose table comes from another kind of sampling.
TEST(LongAimHardmax, ThreeTokensAgreeWithNestedSamplingWithoutGradients) {
  const Estimate sampled =
      nested_monte_carlo(3, 0.5, 1.0, static_cast<std::size_t>(testing::scaled(1000)), 8000);
  const Estimate known = (*hardmax_information(3, {}, 1, {}))(0.5);
  EXPECT_NEAR(sampled.value, known.value,
              5.0 * std::hypot(sampled.error, known.error) + 0.01 * known.value);
}

TEST(AimHardmax, PairHasItsClosedFormWithoutOverlap) {
  const double plus = 0.25 + std::asin(1.0 / 3.0) / (2.0 * std::numbers::pi);
  const double exact = (2.0 / plus + 1.0 / (0.5 - plus)) / (3.0 * std::numbers::pi);
  const auto information = hardmax_information(2, {}, 1, {});
  EXPECT_NEAR((*information)(0.0).value, exact, tolerance::thousands_of_roundings);
  EXPECT_NEAR(1.0 / (2.0 * exact), 0.4034106, seventh_digit);
}

/// [aim 22] by another way: the plain trapezoid rule in independent normals, probabilities by the
/// integral above. The numbers typed in are that rule with steps of 1/25.
TEST(AimHardmax, PairAgreesWithAnotherQuadrature) {
  for (const auto& [lambda, exact] :
       {std::pair{0.05, 1.21735226562799}, std::pair{0.5, 1.05848415979829},
        std::pair{2.0, 0.783598237272119}, std::pair{14.0, 0.365385794566086}}) {
    EXPECT_NEAR(hardmax_pair_information(lambda, {}), exact, 1e-12 * exact) << lambda;
  }
  const double lambda = 1.5;
  constexpr double step = 0.25;
  double total = 0.0;
  for (const double c : {-1.0 / 3.0, 1.0 / 3.0}) {
    for (int i = -24; i <= 24; ++i) {
      for (int j = 0; j <= 24; ++j) {  // even in j
        const double sum = std::sqrt(0.5 * (1.0 + c)) * step * i;
        const double difference = std::sqrt(0.5 * (1.0 - c)) * step * j;
        const double k1 = std::sqrt(lambda) * (sum + difference);
        const double k2 = std::sqrt(lambda) * (sum - difference);
        const double root = std::sqrt(1.0 - c * c);
        const double d1 = density(k1) * cdf((k2 - c * k1) / root);
        const double d2 = density(k2) * cdf((k1 - c * k2) / root);
        const double both = c > 0.0 ? d1 + d2 : d1 - d2;
        total += density(step * i) * density(step * j) * (j == 0 ? 1.0 : 2.0) * step * step *
                 (2.0 * d1 * d1 + 2.0 * d2 * d2 + both * both) / orthant_by_quadrature(k1, k2, c);
      }
    }
  }
  // Steps of 1/4 of a normal are good to 1e-9 here, six of its deviations too.
  EXPECT_NEAR(hardmax_pair_information(lambda, {}), 2.0 / 3.0 * total, of_a_coarse_rule);
}

TEST(AimHardmax, SeriesReproducesTheQuadratureEverywhere) {
  const auto information = hardmax_information(2, {}, 1, {});
  for (const double lambda : {1e-3, 0.3, 1.0, 7.0, 300.0, 1e5, 1e7}) {
    const double direct = hardmax_pair_information(lambda, {});
    EXPECT_NEAR((*information)(lambda).value / direct, 1.0, tolerance::many_roundings) << lambda;
  }
}

TEST(AimHardmax, PublishedOutputFunctionIsReproduced) {
  // The integrand behind the published curves, at q/V = 0.5, 2 and 14.
  EXPECT_NEAR(hardmax_pair_information(0.5, {true, 1.0}), 0.6425, tolerance::half_of_fourth_digit);
  EXPECT_NEAR(hardmax_pair_information(2.0, {true, 1.0}), 0.3474, tolerance::half_of_fourth_digit);
  EXPECT_NEAR(hardmax_pair_information(14.0, {true, 1.0}), 0.0737, tolerance::half_of_fourth_digit);
}

TEST(AimHardmax, TiesDecideWhatIsLeftAtLargeOverlaps) {
  EXPECT_NEAR(std::sqrt(1e7) * hardmax_pair_information(1e7, {}), hardmax_tie_constant(2),
              tolerance::fourth_digit);
  EXPECT_NEAR(hardmax_tie_constant(2), 1.4413, tolerance::fourth_digit);
}

/// Five standard errors: a false alarm in two million runs.
TEST(AimHardmax, SamplingAgreesWithQuadratureForTwoTokens) {
  for (const double lambda : {0.0, 2.0}) {
    const Estimate e = numerics::reduce(sampled_hardmax_information(2, lambda, 32768, 5, {}));
    EXPECT_NEAR(e.value, hardmax_pair_information(lambda + 1e-9, {}), 5.0 * e.error);
  }
}

TEST(LongAimHardmax, TableIsWhatItsGeneratorWrites) {
  for (const int tokens : {3, 6}) {
    const auto table = hardmax_information(tokens, {}, 1, {});
    for (const double lambda : {0.0, 1.0}) {
      const Estimate e = numerics::reduce(sampled_hardmax_information(
          tokens, lambda, static_cast<std::size_t>(testing::scaled(32768)), 11, {}));
      const Estimate known = (*table)(lambda);
      EXPECT_NEAR(known.value, e.value, 5.0 * std::hypot(e.error, known.error)) << tokens;
      EXPECT_LT(known.error, 2.5e-3 * known.value);
    }
  }
}

TEST(AimHardmax, SamplesAreTheSameForAnyNumberOfThreads) {
  Context three;
  three.threads = 3;
  EXPECT_EQ(sampled_hardmax_information(3, 1.0, 16384, 2, {}),
            sampled_hardmax_information(3, 1.0, 16384, 2, three));
}

}  // namespace
}  // namespace onset::aim
