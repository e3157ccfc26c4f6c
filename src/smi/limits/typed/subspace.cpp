#include "smi/limits/typed/subspace.hpp"

#include "numerics/linear_algebra/symmetric_eigen.hpp"

namespace onset::smi {
namespace {

/// Sines of angles below this are 0.
constexpr double parallel = 1e-7;

Eigen::MatrixXd projector(const Eigen::MatrixXd& basis) {
  return basis * basis.transpose();
}

Eigen::MatrixXd identity_like(const Eigen::MatrixXd& basis) {
  return Eigen::MatrixXd::Identity(basis.rows(), basis.rows());
}

}  // namespace

Eigen::MatrixXd range_above(const Eigen::MatrixXd& symmetric, double least) {
  const numerics::SymmetricEigen eigen = numerics::symmetric_eigen(symmetric);
  const Eigen::Index size = symmetric.rows();
  Eigen::Index kept = 0;
  while (kept < size && eigen.values(size - 1 - kept) > least) ++kept;
  return eigen.vectors.rightCols(kept);
}

Eigen::MatrixXd complement(const Eigen::MatrixXd& basis) {
  return range_above(identity_like(basis) - projector(basis), 0.5);
}

Eigen::MatrixXd sum_of(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return range_above(projector(a) + projector(b), parallel * parallel);
}

Eigen::MatrixXd intersection(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return range_above(projector(a) + projector(b), 2.0 - parallel);
}

Eigen::MatrixXd without(const Eigen::MatrixXd& whole, const Eigen::MatrixXd& part) {
  return range_above(projector(whole) - projector(part), 0.5);
}

Eigen::MatrixXd on_pairs(const Eigen::MatrixXd& map) {
  const Eigen::Index from = map.rows();
  const Eigen::Index to = map.cols();
  Eigen::MatrixXd out(from * from, to * to);
  for (Eigen::Index p = 0; p < from; ++p) {
    for (Eigen::Index q = 0; q < to; ++q) out.block(p * from, q * to, from, to) = map(p, q) * map;
  }
  return out;
}

}  // namespace onset::smi
