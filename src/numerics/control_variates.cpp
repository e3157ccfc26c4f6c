#include "numerics/control_variates.hpp"

#include <cmath>

#include "numerics/linear_algebra/symmetric_eigen.hpp"

namespace onset::numerics {
namespace {

/// Directions of controls with less than this part of the largest variance, each control having
/// variance 1, are combinations of others.
constexpr double distinct = 1e-6;
/// Controls smaller than this do not scatter but round.
constexpr double rounding = 1e-12;
/// n m^T (X^T X)^{-1} m, with the mean m of n replicates, beyond which the mean of the controls is
/// not 0, by some five errors of theirs.
constexpr double most_shared = 2.0;

/// The matrix that makes regression coefficients of values: (X^T X)^{-1} X^T.
Eigen::MatrixXd regression(const Eigen::MatrixXd& x) {
  const SymmetricEigen eigen = symmetric_eigen(x.transpose() * x);
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(x.cols(), x.rows());
  for (Eigen::Index k = 0; k < eigen.values.size(); ++k) {
    if (!(eigen.values(k) > distinct * eigen.values.maxCoeff())) continue;
    const Eigen::VectorXd axis = eigen.vectors.col(k);
    out += axis / eigen.values(k) * (x * axis).transpose();
  }
  return out;
}

}  // namespace

Eigen::MatrixXd control_weights(const Eigen::MatrixXd& controls) {
  const Eigen::Index count = controls.rows();
  Eigen::MatrixXd weights = Eigen::MatrixXd::Identity(count, count);
  // A regression on the others needs more of them than it has coefficients.
  if (count < controls.cols() + 4) return weights;
  Eigen::MatrixXd scaled = controls;
  for (Eigen::Index k = 0; k < scaled.cols(); ++k) {
    const Eigen::VectorXd column = scaled.col(k);
    const double scatter = (column.array() - column.mean()).matrix().norm();
    scaled.col(k) *= scatter > rounding ? 1.0 / scatter : 0.0;
  }
  for (Eigen::Index r = 0; r < count; ++r) {
    Eigen::MatrixXd others = scaled;
    others.row(r) = (scaled.colwise().sum() - scaled.row(r)) / static_cast<double>(count - 1);
    others.rowwise() -= others.row(r).eval();
    weights.row(r) -= scaled.row(r) * regression(others);
  }
  // All rows share the errors of the coefficients, times the mean of the controls, which their own
  // scatter does not show.
  const Eigen::RowVectorXd mean = scaled.colwise().mean();
  const Eigen::MatrixXd centred = scaled.rowwise() - mean;
  const double shared = (mean * regression(centred)).squaredNorm() * static_cast<double>(count);
  if (shared > most_shared) return Eigen::MatrixXd::Identity(count, count);
  const Eigen::RowVectorXd average = weights.colwise().mean();
  weights = (weights.rowwise() - average) * std::sqrt(1.0 + shared);
  weights.rowwise() += average;
  return weights;
}

}  // namespace onset::numerics
