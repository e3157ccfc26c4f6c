#pragma once

#include <Eigen/Core>

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

/// The solution of least norm of a x = b in the sense of least squares; directions of a below
/// `threshold` times its largest pivot count as noise.
[[nodiscard]] Eigen::MatrixXd least_norm_solution(const Eigen::MatrixXd& a,
                                                  const Eigen::MatrixXd& b, double threshold);

/// The largest absolute value of an eigenvalue, real or complex, of a square matrix.
[[nodiscard]] double spectral_radius(const Eigen::MatrixXd& square);

/// An LU decomposition with partial pivoting, for equations of one matrix that come one by one.
class LuFactors {
 public:
  explicit LuFactors(const Eigen::MatrixXd& square);

  [[nodiscard]] Eigen::VectorXd solve(const Eigen::VectorXd& b) const;

 private:
  Eigen::MatrixXd packed_;  // the upper factor, and the lower one without its diagonal of ones
  Eigen::PermutationMatrix<Eigen::Dynamic> order_;
};

}  // namespace onset::numerics
