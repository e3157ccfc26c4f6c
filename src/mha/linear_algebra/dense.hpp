#pragma once

#include <Eigen/Core>
#include <vector>

#include "numerics/linear_algebra/dense.hpp"

namespace onset::mha {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

[[nodiscard]] inline numerics::MatrixView view(const Matrix& m) {
  return {m.data(), static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols())};
}

/// The entries row by row.
[[nodiscard]] inline std::vector<double> flat(const Matrix& m) {
  return {m.data(), m.data() + m.size()};
}

}  // namespace onset::mha
