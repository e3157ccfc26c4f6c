#pragma once

#include <span>
#include <vector>

#include "numerics/linear_algebra/dense.hpp"

namespace onset::numerics {

/// Singular values of a matrix, decreasing (LAPACK dgesdd on one thread). Throws InvalidArgument
/// when an entry is not finite or LAPACK fails.
[[nodiscard]] std::vector<double> singular_values(MatrixView matrix);

/// The same with right singular vectors: row k of `vectors`, min(rows, columns) x columns, is the
/// unit vector of the k-th value.
[[nodiscard]] std::vector<double> singular_values(MatrixView matrix, std::vector<double>& vectors);

}  // namespace onset::numerics
