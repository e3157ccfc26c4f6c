#pragma once

#include <Eigen/Dense>

namespace onset::mha {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

}  // namespace onset::mha
