#include "numerics/symmetric_eigen.hpp"

#include <Eigen/Eigenvalues>

namespace onset::numerics {

using Solver = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& symmetric) {
  const Solver solver(symmetric);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXd tridiagonal_eigenvalues(const Eigen::VectorXd& diagonal,
                                        const Eigen::VectorXd& beside) {
  Solver solver;
  solver.computeFromTridiagonal(diagonal, beside, Eigen::EigenvaluesOnly);
  return solver.eigenvalues();
}

}  // namespace onset::numerics
