#include "smi/limits/typed/pooled_labels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace onset::smi {
namespace {

constexpr std::size_t units = 6;
constexpr double rounding_of_sums = 1e-12;

/// A sum that can be scaled, as pooled_sums() asks.
struct Sum {
  double value = 0.0;
  Sum& operator+=(const Sum& other) {
    value += other.value;
    return *this;
  }
  Sum& operator*=(double factor) {
    value *= factor;
    return *this;
  }
};

/// Moments of one normal with a mass and a mean that differ from unit to unit.
LevelMoments moments(double mass, double mean) {
  LevelMoments out(1);
  out.z = mass;
  out.mean(0) = mean;
  out.roots = 10;
  return out;
}

PooledSums<Sum> pooled(const std::vector<LabelNode>& nodes, double scatter_of_mass) {
  return pooled_sums(
      units, nodes, Sum{},
      [&](std::size_t unit, const TypedLabel&) {
        const auto u = static_cast<double>(unit);
        return moments(1.0 + scatter_of_mass * std::sin(7.0 * u), std::cos(3.0 * u));
      },
      [](const LevelMoments& all, double weight, Sum& to) {
        to.value += weight * all.mean(0) * all.mean(0) / (all.z * all.z);
      },
      [](const LevelMoments& all) { return std::vector<double>{all.z}; }, {});
}

TEST(PooledSums, SquaresOfMeansHaveNoBias) {
  const std::vector<LabelNode> nodes(40, LabelNode{{0.5, false}, 0.25});
  const PooledSums<Sum> found = pooled(nodes, 0.0);
  ASSERT_EQ(found.units.size(), units);
  double mean = 0.0;
  for (const Sum& one : found.units) mean += one.value / static_cast<double>(units);
  // The mean of all products of two different units.
  double products = 0.0;
  for (std::size_t u = 0; u < units; ++u) {
    for (std::size_t v = 0; v < units; ++v) {
      if (u == v) continue;
      products += std::cos(3.0 * static_cast<double>(u)) * std::cos(3.0 * static_cast<double>(v)) /
                  static_cast<double>(units * (units - 1));
    }
  }
  EXPECT_NEAR(mean, 10.0 * products, rounding_of_sums);
  EXPECT_EQ(found.ratio_bias, 0.0);
}

TEST(PooledSums, TheBiasOfRatiosIsOfSecondOrderInTheVarianceOfTheMass) {
  const std::vector<LabelNode> nodes(1, LabelNode{{0.5, false}, 1.0});
  const double small = pooled(nodes, 1e-4).ratio_bias;
  EXPECT_GT(small, 0.0);
  constexpr double higher_orders = 1e-3;  // relative, of a scatter of 2e-4
  EXPECT_NEAR(pooled(nodes, 2e-4).ratio_bias / small, 16.0, 16.0 * higher_orders);
}

TEST(PooledSums, TheVarianceOfAMeanIsRelative) {
  EXPECT_NEAR(variance_of_mean({1.0, 3.0}), 0.25, rounding_of_sums);
  EXPECT_EQ(variance_of_mean({0.0, 0.0}), 0.0);
  EXPECT_LT(jackknifed_bias(1e-3), 1e-3);
  EXPECT_EQ(jackknifed_bias(1.0), 2.0);
}

TEST(PooledSums, RowsAreCombinedByTheirWeights) {
  Eigen::MatrixXd weights(2, 2);
  weights << 1.0, 2.0, -1.0, 0.5;
  const std::vector<Sum> found = combined(weights, std::vector<Sum>{{3.0}, {4.0}});
  EXPECT_NEAR(found[0].value, 11.0, rounding_of_sums);
  EXPECT_NEAR(found[1].value, -1.0, rounding_of_sums);
}

}  // namespace
}  // namespace onset::smi
