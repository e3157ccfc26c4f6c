#include "numerics/linear_algebra/symmetric_eigen.hpp"

#include <Eigen/Eigenvalues>

namespace onset::numerics {

using Solver = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& symmetric) {
  const Solver solver(symmetric);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& symmetric) {
  return Solver(symmetric, Eigen::EigenvaluesOnly).eigenvalues();
}

Eigen::MatrixXd symmetric_root(const Eigen::MatrixXd& semidefinite) {
  return Solver(semidefinite).operatorSqrt();
}

Eigen::VectorXd tridiagonal_eigenvalues(const Eigen::VectorXd& diagonal,
                                        const Eigen::VectorXd& beside) {
  Solver solver;
  solver.computeFromTridiagonal(diagonal, beside, Eigen::EigenvaluesOnly);
  return solver.eigenvalues();
}

}  // namespace onset::numerics
