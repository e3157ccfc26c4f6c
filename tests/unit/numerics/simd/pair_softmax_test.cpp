#include "numerics/simd/pair_softmax.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "numerics/random/stream.hpp"
#include "support/tolerances.hpp"
#include "unit/numerics/simd_levels.hpp"

namespace onset::numerics {
namespace {

double sigmoid(double x) {
  return x < 0.0 ? std::exp(x) / (1.0 + std::exp(x)) : 1.0 / (1.0 + std::exp(-x));
}

void expect_pair(double z1, double z2, double first, double second) {
  // A few units in the last place, and what rounding the logit costs.
  const double unit = 2.3e-16;
  for (const auto& [logit, value] : {std::pair{z1 * (z1 - z2), first}, {z2 * (z2 - z1), second}}) {
    const double exact = sigmoid(logit);
    EXPECT_NEAR(value / exact, 1.0, unit * (12.0 + 2.0 * std::abs(logit))) << z1 << " " << z2;
  }
}

void expect_pairs_of_all_sizes() {
  std::vector<double> z1(1003);
  std::vector<double> z2(1003);
  for (const double size : {1e-9, 1e-3, 1.0, 4.0, 15.0}) {
    Stream(5, "pair softmax").normal(z1);
    Stream(6, "pair softmax").normal(z2);
    for (double& z : z1) z *= size;
    for (double& z : z2) z *= size;
    std::vector<double> first(z1.size());
    std::vector<double> second(z1.size());
    simd::pair_softmax(z1.data(), z2.data(), z1.size(), first.data(), second.data());
    for (std::size_t i = 0; i < z1.size(); ++i) {
      if (std::abs(z1[i] * (z1[i] - z2[i])) > 690.0) continue;
      if (std::abs(z2[i] * (z1[i] - z2[i])) > 690.0) continue;
      expect_pair(z1[i], z2[i], first[i], second[i]);
    }
  }
}

TEST(PairSoftmax, IsTheDiagonalOfTwoTokenAttentionAtEverySimdLevel) {
  testing::at_every_simd_level([](const std::string& level) {
    SCOPED_TRACE(level);
    expect_pairs_of_all_sizes();
  });
}

TEST(PairSoftmax, SaturatesWithoutOverflow) {
  const double z1[] = {1e5, -1e5, 30.0, 1e5, 1e150, 0.0};
  const double z2[] = {-1e5, -2e5, 60.0, 1e5, -1e150, 1e150};
  const double expected[] = {1.0, 0.0, 0.0, 0.5, 1.0, 0.5};
  double first[6];
  double second[6];
  simd::pair_softmax(z1, z2, 6, first, second);
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(first[i], expected[i], tolerance::few_roundings) << i;
    EXPECT_GT(first[i], 0.0) << "the logarithm stays finite";
    EXPECT_NEAR(second[i], i == 3 ? 0.5 : 1.0, tolerance::few_roundings) << i;
  }
}

}  // namespace
}  // namespace onset::numerics
