#include "mha/linear_algebra/decompositions.hpp"

#include <gtest/gtest.h>

#include "numerics/random/stream.hpp"

namespace onset::mha {
namespace {

/// A rounding error of products of matrices of this size.
constexpr double rounding = 1e-12;

Matrix random_matrix(Index rows, Index columns, std::uint64_t seed) {
  Matrix out(rows, columns);
  numerics::Stream(seed, "test decompositions", 0)
      .normal({out.data(), static_cast<std::size_t>(out.size())});
  return out;
}

TEST(MhaDecompositions, LeastSquaresLeavesNothingAlongTheColumns) {
  const Matrix a = random_matrix(20, 6, 1);
  const Matrix b = random_matrix(20, 3, 2);
  const HouseholderFactors factors(a);
  for (const Matrix& x : {least_squares(a, b), factors.solve(b),
                          solve_normal_equations(a.transpose() * a, a.transpose() * b)}) {
    EXPECT_LT((a.transpose() * (b - a * x)).norm(), rounding * b.norm());
  }
  const Vector first = b.col(0);
  const HouseholderFactors::Fit fit = factors.fit(first);
  EXPECT_NEAR(fit.residual, (first - a * fit.solution).norm(), rounding);
  EXPECT_GT(factors.min_pivot(), 0.0);
}

TEST(MhaDecompositions, OfManySolutionsTheShortestIsTaken) {
  const Matrix half = random_matrix(5, 2, 3);
  const Matrix a = half * half.transpose();  // rank 2 of 5
  const Matrix b = a * random_matrix(5, 1, 4);
  const Matrix x = minimum_norm_solution(a, b);
  EXPECT_LT((a * x - b).norm(), rounding * b.norm());
  EXPECT_LT((orthogonal_complement(half).transpose() * x).norm(), rounding * x.norm());
}

TEST(MhaDecompositions, ABasisAndItsComplementAreOrthonormalWhateverTheRank) {
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

TEST(MhaDecompositions, TurningPutsTheColumnsFirst) {
  const Matrix m = random_matrix(4, 6, 6);
  const Eigen::MatrixXd a = random_matrix(6, 2, 7);
  const Eigen::MatrixXd turned = times_orthogonal_factor(m, a);
  EXPECT_NEAR(turned.norm(), m.norm(), rounding * m.norm());
  EXPECT_NEAR(turned.rightCols(4).norm(), (m * orthogonal_complement(a)).norm(), rounding);
}

TEST(MhaDecompositions, SymmetricSystemsAreSolvedAndThoseThatAreNotPositiveNoticed) {
  const Matrix half = random_matrix(9, 4, 8);
  const Matrix a = half.transpose() * half;
  const Vector b = random_matrix(4, 1, 9).col(0);
  const Vector x = solve_symmetric(a, b);
  EXPECT_LT((a * x - b).norm(), rounding * b.norm());
  EXPECT_NEAR(explained_square(a, b), b.dot(x), rounding * b.dot(x));
  EXPECT_LT(explained_square(-a, b), 0.0);
}

}  // namespace
}  // namespace onset::mha
