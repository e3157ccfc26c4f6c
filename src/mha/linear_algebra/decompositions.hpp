#pragma once

#include "mha/linear_algebra/dense.hpp"

/// Eigen's decompositions behind plain functions. Their templates take a compiler longer than
/// everything else in the family together, so this is the only place that includes them.
namespace onset::mha {

/// The solution of least norm of a x = b in the sense of least squares, for any rank of a.
[[nodiscard]] Matrix minimum_norm_solution(const Matrix& a, const Matrix& b);

/// Least squares of b on the columns of a, with pivoting (QR).
[[nodiscard]] Matrix least_squares(const Eigen::MatrixXd& a, const Matrix& b);

/// The solution of a x = b for a symmetric positive semidefinite matrix (LDLT).
[[nodiscard]] Vector solve_symmetric(const Matrix& a, const Vector& b);
/// The same for several right-hand sides, as the normal equations of least squares have them.
[[nodiscard]] Matrix solve_normal_equations(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// |L^-1 b|^2 where a = L L^T: how much of a squared norm least squares with the normal equations
/// a x = b explains. Negative when a is not positive definite.
[[nodiscard]] double explained_square(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// Orthonormal columns that span what is orthogonal to the columns of a, whatever their rank.
[[nodiscard]] Eigen::MatrixXd orthogonal_complement(const Eigen::MatrixXd& a);

/// m Q with the full orthogonal factor Q of a: the first columns of Q span those of a.
[[nodiscard]] Eigen::MatrixXd times_orthogonal_factor(const Matrix& m, const Eigen::MatrixXd& a);

/// A QR decomposition without pivoting that answers several questions about one matrix, whose
/// columns are independent and no more than its rows.
class HouseholderFactors {
 public:
  HouseholderFactors() = default;
  explicit HouseholderFactors(const Eigen::MatrixXd& a);

  /// Smallest diagonal entry of the triangular factor, in size.
  [[nodiscard]] double min_pivot() const;
  /// Orthonormal columns that span those of a.
  [[nodiscard]] Eigen::MatrixXd basis() const;
  /// Least squares of the columns of b on those of a.
  [[nodiscard]] Matrix solve(const Matrix& b) const;

  struct Fit {
    Vector solution;
    double residual = 0.0;  ///< |b - a solution|
  };
  [[nodiscard]] Fit fit(const Vector& b) const;

 private:
  Eigen::MatrixXd packed_;  // the triangular factor, and the reflections below it
  Vector coefficients_;     // of the reflections
};

}  // namespace onset::mha
