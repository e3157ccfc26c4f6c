#include "numerics/linear_algebra/matrix_equations.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

namespace onset::numerics {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd inverse(const MatrixXd& square) {
  return square.inverse();
}

MatrixXd pseudo_inverse(const MatrixXd& matrix) {
  return least_norm_solution(matrix, MatrixXd::Identity(matrix.rows(), matrix.rows()));
}

VectorXd solve_symmetric(const MatrixXd& symmetric, const VectorXd& b) {
  return symmetric.ldlt().solve(b);
}

MatrixXd solve(const MatrixXd& square, const MatrixXd& b) {
  return square.partialPivLu().solve(b);
}

std::optional<VectorXd> solve_positive(const MatrixXd& positive, const VectorXd& b) {
  const Eigen::LLT<MatrixXd> factor(positive);
  if (factor.info() != Eigen::Success) return std::nullopt;
  return factor.solve(b);
}

MatrixXd cholesky_factor(const MatrixXd& positive) {
  return positive.llt().matrixL();
}

MatrixXd least_norm_solution(const MatrixXd& a, const MatrixXd& b,
                             std::optional<double> threshold) {
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> solver;
  if (threshold) solver.setThreshold(*threshold);
  solver.compute(a);
  return solver.solve(b);
}

double spectral_radius(const MatrixXd& square) {
  return Eigen::EigenSolver<MatrixXd>(square, false).eigenvalues().cwiseAbs().maxCoeff();
}

MatrixXd least_squares(const MatrixXd& a, const MatrixXd& b) {
  return a.colPivHouseholderQr().solve(b);
}

MatrixXd solve_normal_equations(const MatrixXd& a, const MatrixXd& b) {
  return a.ldlt().solve(b);
}

MatrixXd whitened(const MatrixXd& a, const MatrixXd& b) {
  return a.llt().matrixL().solve(b);
}

double explained_square(const MatrixXd& a, const MatrixXd& b) {
  const Eigen::LLT<MatrixXd> factor(a);
  if (factor.info() != Eigen::Success) return -1.0;
  return factor.matrixL().solve(b).squaredNorm();
}

MatrixXd orthogonal_complement(const MatrixXd& a) {
  const Eigen::ColPivHouseholderQR<MatrixXd> qr(a);
  const MatrixXd all = qr.householderQ() * MatrixXd::Identity(a.rows(), a.rows());
  return all.rightCols(a.rows() - qr.rank());
}

MatrixXd times_orthogonal_factor(const MatrixXd& m, const MatrixXd& a) {
  return m * a.householderQr().householderQ();
}

HouseholderFactors::HouseholderFactors(const MatrixXd& a) {
  const Eigen::HouseholderQR<MatrixXd> qr(a);
  packed_ = qr.matrixQR();
  coefficients_ = qr.hCoeffs();
}

double HouseholderFactors::min_pivot() const {
  return packed_.diagonal().cwiseAbs().minCoeff();
}

MatrixXd HouseholderFactors::basis() const {
  return Eigen::householderSequence(packed_, coefficients_) *
         MatrixXd::Identity(packed_.rows(), packed_.cols());
}

MatrixXd HouseholderFactors::solve(const MatrixXd& b) const {
  MatrixXd turned = b;
  turned.applyOnTheLeft(Eigen::householderSequence(packed_, coefficients_).adjoint());
  const Eigen::Index columns = packed_.cols();
  auto solution = turned.topRows(columns);
  packed_.topRows(columns).triangularView<Eigen::Upper>().solveInPlace(solution);
  return solution;
}

HouseholderFactors::Fit HouseholderFactors::fit(const VectorXd& b) const {
  const VectorXd turned = Eigen::householderSequence(packed_, coefficients_).transpose() * b;
  const Eigen::Index columns = packed_.cols();
  const auto triangle = packed_.topRows(columns).triangularView<Eigen::Upper>();
  return {triangle.solve(turned.head(columns)), turned.tail(turned.size() - columns).norm()};
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

CholeskyFactors::CholeskyFactors(const MatrixXd& positive)
    : lower_(Eigen::LLT<MatrixXd>(positive).matrixL()) {}

VectorXd CholeskyFactors::solve(const VectorXd& b) const {
  VectorXd x = b;
  lower_.triangularView<Eigen::Lower>().solveInPlace(x);
  lower_.triangularView<Eigen::Lower>().adjoint().solveInPlace(x);
  return x;
}

}  // namespace onset::numerics
