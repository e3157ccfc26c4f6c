#include "numerics/linear_algebra/matrix_equations.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

namespace onset::numerics {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using AnyRank = Eigen::CompleteOrthogonalDecomposition<MatrixXd>;

MatrixXd inverse(const MatrixXd& square) {
  return square.inverse();
}

MatrixXd pseudo_inverse(const MatrixXd& matrix) {
  return AnyRank(matrix).pseudoInverse();
}

VectorXd solve_symmetric(const MatrixXd& symmetric, const VectorXd& b) {
  return symmetric.ldlt().solve(b);
}

MatrixXd least_norm_solution(const MatrixXd& a, const MatrixXd& b, double threshold) {
  AnyRank solver;
  solver.setThreshold(threshold);
  solver.compute(a);
  return solver.solve(b);
}

double spectral_radius(const MatrixXd& square) {
  return Eigen::EigenSolver<MatrixXd>(square, false).eigenvalues().cwiseAbs().maxCoeff();
}

LuFactors::LuFactors(const MatrixXd& square) {
  const Eigen::PartialPivLU<MatrixXd> factors(square);
  packed_ = factors.matrixLU();
  order_ = factors.permutationP();
}

VectorXd LuFactors::solve(const VectorXd& b) const {
  VectorXd x = order_ * b;
  packed_.triangularView<Eigen::UnitLower>().solveInPlace(x);
  packed_.triangularView<Eigen::Upper>().solveInPlace(x);
  return x;
}

}  // namespace onset::numerics
