#include "numerics/jackknife.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <numeric>
#include <vector>

#include "support/tolerances.hpp"

namespace onset::numerics {
namespace {

TEST(Jackknife, PseudoValuesOfASquareHaveItsUnbiasedEstimateAsMean) {
  // (sum of x)^2 - sum of x^2 over n (n - 1) is the estimate of mean^2 without any bias.
  const std::vector<double> x = {0.3, -1.1, 2.4, 0.9, 1.7};
  const auto n = static_cast<double>(x.size());
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  double squares = 0.0;
  for (const double one : x) squares += one * one;
  double mean = 0.0;
  for (const double one : x) {
    const double without = (sum - one) / (n - 1.0);
    mean += pseudo_value(sum / n * (sum / n), without * without, n) / n;
  }
  EXPECT_NEAR(mean, (sum * sum - squares) / (n * (n - 1.0)), tolerance::dozens_of_roundings);
}

TEST(Jackknife, PseudoValuesOfAMeanAreTheUnitsThemselves) {
  const Eigen::Vector2d first(1.0, -2.0), second(3.0, 0.5);
  const Eigen::VectorXd whole = 0.5 * (first + second);
  EXPECT_EQ(pseudo_value<Eigen::VectorXd>(whole, second, 2.0), first);
}

}  // namespace
}  // namespace onset::numerics
