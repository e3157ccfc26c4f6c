#pragma once

#include <cmath>
#include <cstddef>

namespace onset::smi {

/// The lower triangular root of a small positive semidefinite matrix (size x size, row by row):
/// root root^T = matrix. A pivot that rounding made non-positive, of a direction that depends on
/// the ones before it, gives a column of zeros.
inline void semidefinite_root(const double* matrix, std::size_t size, double* root) {
  constexpr double rounding = 1e-14;
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t i = 0; i < size; ++i) {
      double x = i < j ? 0.0 : matrix[i * size + j];
      for (std::size_t k = 0; i >= j && k < j; ++k) x -= root[i * size + k] * root[j * size + k];
      root[i * size + j] = x;
    }
    const double pivot = root[j * size + j];
    const bool usable = pivot > rounding * matrix[j * size + j];
    const double scale = usable ? 1.0 / std::sqrt(pivot) : 0.0;
    for (std::size_t i = j; i < size; ++i) root[i * size + j] *= scale;
  }
}

}  // namespace onset::smi
