#pragma once

#include <Eigen/Core>

/// Eigenvalues and eigenvectors of symmetric matrices. Eigen's solver takes half a minute of
/// compiling where it is used, so it is used here alone.
namespace onset::numerics {

struct SymmetricEigen {
  Eigen::VectorXd values;   ///< ascending
  Eigen::MatrixXd vectors;  ///< columns, in the order of the values
};

[[nodiscard]] SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& symmetric);

/// The eigenvalues alone, ascending, at less cost.
[[nodiscard]] Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& symmetric);

/// The positive semidefinite root of such a matrix.
[[nodiscard]] Eigen::MatrixXd symmetric_root(const Eigen::MatrixXd& semidefinite);

/// The eigenvalues, ascending, of a symmetric matrix with this diagonal and these entries beside
/// it.
[[nodiscard]] Eigen::VectorXd tridiagonal_eigenvalues(const Eigen::VectorXd& diagonal,
                                                      const Eigen::VectorXd& beside);

}  // namespace onset::numerics
