#include "numerics/linear_algebra/symmetric_eigen.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace onset::numerics {
namespace {

/// A few units in the last place of numbers of order one.
constexpr double rounding = 1e-14;

TEST(SymmetricEigen, ValuesAscendAndVectorsDiagonalise) {
  Eigen::MatrixXd a(3, 3);
  a << 2.0, -1.0, 0.5, -1.0, 3.0, 0.25, 0.5, 0.25, -1.0;
  const SymmetricEigen eigen = symmetric_eigen(a);
  EXPECT_LT(eigen.values(0), eigen.values(1));
  EXPECT_LT(eigen.values(1), eigen.values(2));
  const Eigen::MatrixXd product =
      eigen.vectors * eigen.values.asDiagonal() * eigen.vectors.transpose();
  EXPECT_LT((product - a).norm(), rounding);
}

TEST(SymmetricEigen, EigenvaluesAloneHaveTheSameBits) {
  Eigen::MatrixXd a(3, 3);
  a << 2.0, -1.0, 0.5, -1.0, 3.0, 0.25, 0.5, 0.25, -1.0;
  EXPECT_EQ(symmetric_eigenvalues(a), symmetric_eigen(a).values);
}

TEST(SymmetricEigen, TheRootIsSymmetricAndItsSquareIsTheMatrix) {
  Eigen::MatrixXd a(2, 2);
  a << 2.0, -1.0, -1.0, 3.0;
  const Eigen::MatrixXd root = symmetric_root(a);
  EXPECT_LT((root - root.transpose()).norm(), rounding);
  EXPECT_LT((root * root - a).norm(), rounding);
  EXPECT_GT(root.trace(), 0.0);
}

/// The matrix with zeros on the diagonal and ones beside it has the eigenvalues 2 cos(pi k / (n +
/// 1)).
TEST(SymmetricEigen, ATridiagonalMatrixOfOnesHasItsCosines) {
  constexpr int size = 6;
  const Eigen::VectorXd values =
      tridiagonal_eigenvalues(Eigen::VectorXd::Zero(size), Eigen::VectorXd::Ones(size - 1));
  for (int k = 0; k < size; ++k) {
    EXPECT_NEAR(values(k), 2.0 * std::cos(std::numbers::pi * (size - k) / (size + 1)), rounding);
  }
}

}  // namespace
}  // namespace onset::numerics
