#include "aim/limits/erm/label_means.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/tolerances.hpp"

namespace onset::aim {
namespace {

using std::numbers::pi;

double normal_density(double z) {
  return std::exp(-0.5 * z * z) / std::sqrt(2.0 * pi);
}

/// Plain sums over fine grids of the normal, far finer than the softmax is steep.
TEST(LabelMeans, ArePlainSumsOverFineGrids) {
  constexpr double reach = 9.0;
  constexpr double plane_step = 0.04;  // times the steepest deviation, a sixth of the poles' height
  const double rest = std::sqrt(8.0) / 3.0;
  for (const double deviation : {0.01, 0.4, 2.0, 4.7, 4.8, 12.0}) {
    double slope = 0.0;
    double square = 0.0;
    double product = 0.0;
    for (double z = -reach; z <= reach; z += plane_step) {
      const double weight = plane_step * normal_density(z);
      const double label = std::tanh(0.5 * deviation * z);
      slope += weight * std::pow(std::cosh(0.5 * deviation * z), -2.0);
      square += weight * label * label;
      for (double y = -reach; y <= reach; y += plane_step) {
        product += weight * plane_step * normal_density(y) * label *
                   std::tanh(0.5 * deviation * (z / 3.0 + rest * y));
      }
    }
    const LabelMeans means = label_means(deviation);
    EXPECT_NEAR(means.slope, slope, tolerance::thousands_of_roundings) << deviation;
    EXPECT_NEAR(means.square, square, tolerance::thousands_of_roundings * square) << deviation;
    EXPECT_NEAR(means.product, product, tolerance::thousands_of_roundings * product) << deviation;
  }
}

/// Labels of a steep softmax are signs but for a share 2.77/deviation, whatever a grid can see.
TEST(LabelMeans, SteepLabelsAreSigns) {
  for (const double deviation : {1e5, 1e7, 1e12}) {
    const LabelMeans means = label_means(deviation);
    // The normal falls by pi^2/(6 deviation^2) where the softmax turns.
    EXPECT_NEAR(deviation * means.slope, 4.0 * normal_density(0.0),
                10.0 / (deviation * deviation) + tolerance::dozens_of_roundings);
    EXPECT_NEAR(means.square, 1.0 - means.slope, tolerance::few_roundings);
    EXPECT_NEAR(means.product, 2.0 / pi * std::asin(1.0 / 3.0),
                10.0 / (deviation * deviation) + tolerance::dozens_of_roundings);
  }
}

}  // namespace
}  // namespace onset::aim
