#include "numerics/linear_algebra/matrix_equations.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace onset::numerics {
namespace {

/// A few units in the last place of numbers of order one, times the condition of the matrices
/// below.
constexpr double rounding = 1e-13;

/// A matrix whose rows have to be exchanged, since its first pivot is 0.
Eigen::MatrixXd needs_pivots() {
  Eigen::MatrixXd a(3, 3);
  a << 0.0, 2.0, -1.0, 1.0, 0.5, 3.0, -2.0, 1.0, 0.25;
  return a;
}

/// Of rank 2: the third column is the sum of the others.
Eigen::MatrixXd of_rank_two() {
  Eigen::MatrixXd a(4, 3);
  a << 1.0, 0.5, 1.5, -1.0, 2.0, 1.0, 0.25, 1.0, 1.25, 3.0, -1.0, 2.0;
  return a;
}

TEST(MatrixEquations, TheInverseGivesBackTheIdentity) {
  const Eigen::MatrixXd a = needs_pivots();
  EXPECT_LT((a * inverse(a) - Eigen::MatrixXd::Identity(3, 3)).norm(), rounding);
}

TEST(MatrixEquations, FactorsSolveForOneRightHandSideAfterTheOther) {
  const Eigen::MatrixXd a = needs_pivots();
  const LuFactors factors(a);
  for (const double shift : {0.0, 1.0}) {
    const Eigen::VectorXd x = Eigen::Vector3d(1.0 - shift, 2.0, -0.5 + shift);
    EXPECT_LT((factors.solve(a * x) - x).norm(), rounding);
  }
}

/// The four conditions of Penrose, which have one solution.
TEST(MatrixEquations, ThePseudoInverseFulfilsItsFourConditions) {
  const Eigen::MatrixXd a = of_rank_two();
  const Eigen::MatrixXd p = pseudo_inverse(a);
  ASSERT_EQ(p.rows(), a.cols());
  ASSERT_EQ(p.cols(), a.rows());
  EXPECT_LT((a * p * a - a).norm(), rounding);
  EXPECT_LT((p * a * p - p).norm(), rounding);
  EXPECT_LT((a * p - (a * p).transpose()).norm(), rounding);
  EXPECT_LT((p * a - (p * a).transpose()).norm(), rounding);
}

TEST(MatrixEquations, TheLeastNormSolutionIsThatOfThePseudoInverse) {
  const Eigen::MatrixXd a = of_rank_two();
  const Eigen::MatrixXd b = Eigen::Vector4d(1.0, -2.0, 0.5, 3.0);
  EXPECT_LT((least_norm_solution(a, b, 1e-10) - pseudo_inverse(a) * b).norm(), rounding);
}

/// A threshold above the smaller pivot leaves one direction, which is that of the larger column.
TEST(MatrixEquations, DirectionsBelowTheThresholdGetNoWeight) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(2, 2);
  a.diagonal() << 1.0, 1e-3;
  const Eigen::MatrixXd b = Eigen::Vector2d(2.0, 1.0);
  const Eigen::MatrixXd both = least_norm_solution(a, b, 1e-4);
  const Eigen::MatrixXd one = least_norm_solution(a, b, 1e-2);
  EXPECT_NEAR(both(1, 0), 1e3, 1e3 * rounding);
  EXPECT_NEAR(one(0, 0), 2.0, rounding);
  EXPECT_EQ(one(1, 0), 0.0);
}

TEST(MatrixEquations, ASymmetricEquationIsSolved) {
  Eigen::MatrixXd a(3, 3);
  a << 4.0, 1.0, -0.5, 1.0, 3.0, 0.25, -0.5, 0.25, 2.0;
  const Eigen::VectorXd x = Eigen::Vector3d(1.0, -2.0, 0.5);
  EXPECT_LT((solve_symmetric(a, a * x) - x).norm(), rounding);
}

/// A turn by an angle times 0.8 has two complex eigenvalues of that size; the real one is smaller.
TEST(MatrixEquations, TheSpectralRadiusCountsComplexEigenvalues) {
  constexpr double size = 0.8;
  constexpr double angle = 1.1;
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(3, 3);
  a(0, 0) = a(1, 1) = size * std::cos(angle);
  a(1, 0) = size * std::sin(angle);
  a(0, 1) = -a(1, 0);
  a(2, 2) = -0.5;
  EXPECT_NEAR(spectral_radius(a), size, rounding);
}

}  // namespace
}  // namespace onset::numerics
