#pragma once

#include <Eigen/Core>

namespace onset::smi {

/// Orthonormal columns that span those eigenspaces of a symmetric matrix whose eigenvalues exceed
/// `least`.
[[nodiscard]] Eigen::MatrixXd range_above(const Eigen::MatrixXd& symmetric, double least);

/// Orthonormal columns that span what is orthogonal to the given ones.
[[nodiscard]] Eigen::MatrixXd complement(const Eigen::MatrixXd& basis);

/// Orthonormal columns that span both.
[[nodiscard]] Eigen::MatrixXd sum_of(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// Orthonormal columns that span what is in both.
[[nodiscard]] Eigen::MatrixXd intersection(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// The part of `whole` that is orthogonal to `part`.
[[nodiscard]] Eigen::MatrixXd without(const Eigen::MatrixXd& whole, const Eigen::MatrixXd& part);

/// What a map of directions is on pairs of them, (p, q) at p * size + q: its Kronecker square.
[[nodiscard]] Eigen::MatrixXd on_pairs(const Eigen::MatrixXd& map);

}  // namespace onset::smi
