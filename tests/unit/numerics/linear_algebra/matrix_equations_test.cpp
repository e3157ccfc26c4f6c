#include "numerics/linear_algebra/matrix_equations.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "numerics/random/stream.hpp"

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

TEST(MatrixEquations, PositiveMatricesAreSolvedAndOthersAreNot) {
  const Eigen::MatrixXd a = needs_pivots();
  const Eigen::MatrixXd positive = a * a.transpose();
  const Eigen::VectorXd x = Eigen::Vector3d(1.0, 2.0, -0.5);
  const auto solution = solve_positive(positive, positive * x);
  ASSERT_TRUE(solution);
  EXPECT_LT((*solution - x).norm(), rounding);
  EXPECT_FALSE(solve_positive(-positive, x));
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

Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  Eigen::MatrixXd out(rows, columns);
  Stream(seed, "test matrix equations", 0)
      .normal({out.data(), static_cast<std::size_t>(out.size())});
  return out;
}

TEST(MatrixEquations, LeastSquaresLeavesNothingAlongTheColumns) {
  const Eigen::MatrixXd a = random_matrix(20, 6, 1);
  const Eigen::MatrixXd b = random_matrix(20, 3, 2);
  const HouseholderFactors factors(a);
  for (const Eigen::MatrixXd& x : {least_squares(a, b), factors.solve(b),
                                   solve_normal_equations(a.transpose() * a, a.transpose() * b)}) {
    EXPECT_LT((a.transpose() * (b - a * x)).norm(), rounding * b.norm());
  }
  const Eigen::VectorXd first = b.col(0);
  const HouseholderFactors::Fit fit = factors.fit(first);
  EXPECT_NEAR(fit.residual, (first - a * fit.solution).norm(), rounding);
  EXPECT_GT(factors.min_pivot(), 0.0);
}

TEST(MatrixEquations, OfManySolutionsTheShortestIsTaken) {
  const Eigen::MatrixXd half = random_matrix(5, 2, 3);
  const Eigen::MatrixXd a = half * half.transpose();  // rank 2 of 5
  const Eigen::MatrixXd b = a * random_matrix(5, 1, 4);
  const Eigen::MatrixXd x = least_norm_solution(a, b);
  EXPECT_LT((a * x - b).norm(), rounding * b.norm());
  EXPECT_LT((orthogonal_complement(half).transpose() * x).norm(), rounding * x.norm());
}

TEST(MatrixEquations, ABasisAndItsComplementAreOrthonormalWhateverTheRank) {
  Eigen::MatrixXd a = random_matrix(7, 3, 5);
  EXPECT_LT((HouseholderFactors(a).basis().transpose() * orthogonal_complement(a)).norm(),
            rounding);
  a.col(2) = a.col(0) - 2.0 * a.col(1);
  const Eigen::MatrixXd complement = orthogonal_complement(a);
  ASSERT_EQ(complement.cols(), 5);
  EXPECT_LT((complement.transpose() * a).norm(), rounding * a.norm());
  EXPECT_LT((complement.transpose() * complement - Eigen::MatrixXd::Identity(5, 5)).norm(),
            rounding);
}

TEST(MatrixEquations, TurningPutsTheColumnsFirst) {
  const Eigen::MatrixXd m = random_matrix(4, 6, 6);
  const Eigen::MatrixXd a = random_matrix(6, 2, 7);
  const Eigen::MatrixXd turned = times_orthogonal_factor(m, a);
  EXPECT_NEAR(turned.norm(), m.norm(), rounding * m.norm());
  EXPECT_NEAR(turned.rightCols(4).norm(), (m * orthogonal_complement(a)).norm(), rounding);
}

TEST(MatrixEquations, SymmetricSystemsAreSolvedAndThoseThatAreNotPositiveNoticed) {
  const Eigen::MatrixXd half = random_matrix(9, 4, 8);
  const Eigen::MatrixXd a = half.transpose() * half;
  const Eigen::VectorXd b = random_matrix(4, 1, 9).col(0);
  const Eigen::VectorXd x = solve_symmetric(a, b);
  EXPECT_LT((a * x - b).norm(), rounding * b.norm());
  EXPECT_NEAR(explained_square(a, b), b.dot(x), rounding * b.dot(x));
  EXPECT_LT(explained_square(-a, b), 0.0);
}

TEST(MatrixEquations, TheTriangularFactorSolvesAndWhitens) {
  const Eigen::MatrixXd half = random_matrix(9, 4, 10);
  const Eigen::MatrixXd a = half.transpose() * half;
  const CholeskyFactors factors(a);
  EXPECT_LT((factors.lower() * factors.lower().transpose() - a).norm(), rounding * a.norm());
  const Eigen::VectorXd b = random_matrix(4, 1, 11).col(0);
  EXPECT_LT((a * factors.solve(b) - b).norm(), rounding * b.norm());
  EXPECT_LT((factors.lower() * whitened(a, b) - b).norm(), rounding * b.norm());
}

}  // namespace
}  // namespace onset::numerics
