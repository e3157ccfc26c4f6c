#pragma once

#include <Eigen/Core>

#include "onset/numerics/linear_algebra.hpp"

namespace onset::mha {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

[[nodiscard]] inline numerics::MatrixView view(const Matrix& m) {
  return {m.data(), static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols())};
}

}  // namespace onset::mha
