#pragma once

#include <Eigen/Core>
#include <optional>

/// Equations of small dense matrices. Eigen's decompositions are dear to compile, so that they are
/// used here and not where an equation is met.
namespace onset::numerics {

/// The inverse of a square matrix (LU with partial pivoting).
[[nodiscard]] Eigen::MatrixXd inverse(const Eigen::MatrixXd& square);

/// The inverse in the sense of Moore and Penrose, of any matrix.
[[nodiscard]] Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& matrix);

/// The solution of symmetric * x = b for a semidefinite matrix (LDLT).
[[nodiscard]] Eigen::VectorXd solve_symmetric(const Eigen::MatrixXd& symmetric,
                                              const Eigen::VectorXd& b);

/// The solution of square * x = b for several right-hand sides (LU with partial pivoting).
[[nodiscard]] Eigen::MatrixXd solve(const Eigen::MatrixXd& square, const Eigen::MatrixXd& b);

/// The solution of positive * x = b (Cholesky); nothing if the matrix is not positive definite.
[[nodiscard]] std::optional<Eigen::VectorXd> solve_positive(const Eigen::MatrixXd& positive,
                                                            const Eigen::VectorXd& b);

/// The lower triangular matrix L with positive = L L^T.
[[nodiscard]] Eigen::MatrixXd cholesky_factor(const Eigen::MatrixXd& positive);

/// The same for several right-hand sides, as the normal equations of least squares have them.
[[nodiscard]] Eigen::MatrixXd solve_normal_equations(const Eigen::MatrixXd& a,
                                                     const Eigen::MatrixXd& b);

/// L^-1 b where a = L L^T.
[[nodiscard]] Eigen::MatrixXd whitened(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// |L^-1 b|^2 where a = L L^T: how much of a squared norm least squares with the normal equations
/// a x = b explains. Negative when a is not positive definite.
[[nodiscard]] double explained_square(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// Least squares of b on the columns of a, with pivoting (QR).
[[nodiscard]] Eigen::MatrixXd least_squares(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// The solution of least norm of a x = b in the sense of least squares, for any rank of a;
/// directions of a below `threshold` times its largest pivot count as noise (without one: below
/// what rounding leaves).
[[nodiscard]] Eigen::MatrixXd least_norm_solution(const Eigen::MatrixXd& a,
                                                  const Eigen::MatrixXd& b,
                                                  std::optional<double> threshold = {});

/// Orthonormal columns that span what is orthogonal to the columns of a, whatever their rank.
[[nodiscard]] Eigen::MatrixXd orthogonal_complement(const Eigen::MatrixXd& a);

/// m Q with the full orthogonal factor Q of a: the first columns of Q span those of a.
[[nodiscard]] Eigen::MatrixXd times_orthogonal_factor(const Eigen::MatrixXd& m,
                                                      const Eigen::MatrixXd& a);

/// The largest absolute value of an eigenvalue, real or complex, of a square matrix.
[[nodiscard]] double spectral_radius(const Eigen::MatrixXd& square);

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
  [[nodiscard]] Eigen::MatrixXd solve(const Eigen::MatrixXd& b) const;

  struct Fit {
    Eigen::VectorXd solution;
    double residual = 0.0;  ///< |b - a solution|
  };
  [[nodiscard]] Fit fit(const Eigen::VectorXd& b) const;

 private:
  Eigen::MatrixXd packed_;        // the triangular factor, and the reflections below it
  Eigen::VectorXd coefficients_;  // of the reflections
};

/// An LU decomposition with partial pivoting, for equations of one matrix that come one by one.
class LuFactors {
 public:
  explicit LuFactors(const Eigen::MatrixXd& square);

  [[nodiscard]] Eigen::VectorXd solve(const Eigen::VectorXd& b) const;

 private:
  Eigen::MatrixXd packed_;  // the upper factor, and the lower one without its diagonal of ones
  Eigen::PermutationMatrix<Eigen::Dynamic> order_;
};

/// The triangular factor L of positive = L L^T, for equations of one matrix that come one by one.
class CholeskyFactors {
 public:
  CholeskyFactors() = default;
  explicit CholeskyFactors(const Eigen::MatrixXd& positive);

  [[nodiscard]] const Eigen::MatrixXd& lower() const { return lower_; }
  [[nodiscard]] Eigen::VectorXd solve(const Eigen::VectorXd& b) const;

 private:
  Eigen::MatrixXd lower_;
};

}  // namespace onset::numerics
