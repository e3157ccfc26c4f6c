#include "mha/linear_algebra/decompositions.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>

namespace onset::mha {

using Eigen::MatrixXd;

Matrix minimum_norm_solution(const Matrix& a, const Matrix& b) {
  return a.completeOrthogonalDecomposition().solve(b);
}

Matrix least_squares(const MatrixXd& a, const Matrix& b) {
  return a.colPivHouseholderQr().solve(b);
}

Vector solve_symmetric(const Matrix& a, const Vector& b) {
  return a.ldlt().solve(b);
}

Matrix solve_normal_equations(const MatrixXd& a, const MatrixXd& b) {
  return a.ldlt().solve(b);
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

MatrixXd times_orthogonal_factor(const Matrix& m, const MatrixXd& a) {
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

Matrix HouseholderFactors::solve(const Matrix& b) const {
  MatrixXd turned = b;
  turned.applyOnTheLeft(Eigen::householderSequence(packed_, coefficients_).adjoint());
  const Index columns = packed_.cols();
  auto solution = turned.topRows(columns);
  packed_.topRows(columns).triangularView<Eigen::Upper>().solveInPlace(solution);
  return solution;
}

HouseholderFactors::Fit HouseholderFactors::fit(const Vector& b) const {
  const Vector turned = Eigen::householderSequence(packed_, coefficients_).transpose() * b;
  const Index columns = packed_.cols();
  const auto triangle = packed_.topRows(columns).triangularView<Eigen::Upper>();
  return {triangle.solve(turned.head(columns)), turned.tail(turned.size() - columns).norm()};
}

}  // namespace onset::mha
