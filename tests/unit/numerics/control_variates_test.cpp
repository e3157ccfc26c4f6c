#include "numerics/control_variates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "numerics/random/stream.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::numerics {
namespace {

constexpr Eigen::Index units = 16;
/// Sums of 16 numbers of order 1, solved for two coefficients.
constexpr double rounding_of_regressions = 1e-9;

Eigen::MatrixXd normals(Eigen::Index rows, Eigen::Index columns, Stream& stream) {
  Eigen::MatrixXd out(rows, columns);
  for (Eigen::Index i = 0; i < out.size(); ++i) out(i) = stream.normal();
  return out;
}

TEST(ControlWeights, WhatTheControlsSayIsTakenOutAltogether) {
  Stream stream(1, "controls");
  const Eigen::MatrixXd controls = normals(units, 2, stream);
  const Eigen::VectorXd values =
      (3.0 + 0.7 * controls.col(0).array() - 40.0 * controls.col(1).array()).matrix();
  const Eigen::VectorXd left = control_weights(controls) * values;
  for (Eigen::Index u = 0; u < units; ++u) EXPECT_NEAR(left(u), 3.0, rounding_of_regressions);
}

TEST(ControlWeights, ControlsThatDoNotScatterOrRepeatOthersHaveNoEffect) {
  Stream stream(2, "controls");
  EXPECT_TRUE(control_weights(Eigen::MatrixXd::Constant(units, 2, 0.3))
                  .isIdentity(rounding_of_regressions));
  const Eigen::MatrixXd one = normals(units, 1, stream);
  Eigen::MatrixXd twice(units, 2);
  twice << one, -2.0 * one;
  EXPECT_TRUE(control_weights(twice).isApprox(control_weights(one), rounding_of_regressions));
}

TEST(ControlWeights, NothingIsTakenOutWhereTheControlsAreNotZeroOnAverage) {
  Stream stream(5, "controls");
  const Eigen::MatrixXd controls = normals(units, 2, stream);
  EXPECT_FALSE(control_weights(controls).isIdentity());
  EXPECT_TRUE(control_weights((controls.array() + 4.0).matrix()).isIdentity());
}

TEST(ControlWeights, FewReplicatesAreLeftAsTheyAre) {
  Stream stream(3, "controls");
  EXPECT_TRUE(control_weights(normals(5, 2, stream)).isIdentity());
  EXPECT_FALSE(control_weights(normals(6, 2, stream)).isIdentity());
}

TEST(ControlWeights, MeansStayUnbiasedAndTheirErrorsCover) {
  // Controls explain 91 % of the variance.
  constexpr int sets = 20000;
  constexpr double slopes[] = {2.0, 1.0};
  constexpr double rest = 0.7;
  Stream stream(4, "controls");
  Replicates means, plain_means;
  int covered = 0;
  for (int s = 0; s < sets; ++s) {
    const Eigen::MatrixXd controls = normals(units, 2, stream);
    const Eigen::VectorXd values = slopes[0] * controls.col(0) + slopes[1] * controls.col(1) +
                                   rest * normals(units, 1, stream);
    const Eigen::VectorXd left = control_weights(controls) * values;
    const Estimate found = reduce(Replicates(left.begin(), left.end()));
    means.push_back(found.value);
    plain_means.push_back(values.mean());
    covered += std::abs(found.value) < 2.0 * found.error ? 1 : 0;
  }
  const Estimate mean = reduce(means);
  constexpr double five_deviations = 5.0;  // a false alarm in 2e6
  EXPECT_LT(std::abs(mean.value), five_deviations * mean.error);
  // At least as Student's law with 13 degrees of freedom, at most as the normal law; the share of
  // 20000 sets is known to 0.0018, and five of these are allowed.
  constexpr double student = 0.9332, normal = 0.9545, five_deviations_of_share = 0.009;
  const double share = static_cast<double>(covered) / sets;
  EXPECT_GT(share, student - five_deviations_of_share);
  EXPECT_LT(share, normal + five_deviations_of_share);
  // Of the scatter sqrt(5.49/16) the rest is left, times sqrt(1 + 2/12) for two coefficients.
  constexpr double most_left = 0.35;
  EXPECT_LT(mean.error, most_left * reduce(plain_means).error);
}

}  // namespace
}  // namespace onset::numerics
