#pragma once

#include <cstddef>
#include <span>

/// Products in which a symmetric matrix takes part need half the work of general ones. Matrices are
/// row-major; each function runs on the calling thread, with BLAS on one thread.
namespace onset::numerics {

/// out = x u for `rows` rows of `size` numbers and an upper triangular u of size x size, whose
/// zeros are there. With S = u + u^T, x^T S y is x^T u y + y^T u x.
void triangular_product(const float* x, std::size_t rows, std::size_t size, const float* u,
                        float* out);

/// Adds the part of a^T b on and above the diagonal to `sum` (size x size), where a and b have
/// `rows` rows of `size` numbers. Below the diagonal, `sum` is then not to be read.
void add_upper_product(const float* a, const float* b, std::size_t rows, std::size_t size,
                       float* sum);
void add_upper_product(const double* a, const double* b, std::size_t rows, std::size_t size,
                       double* sum);

/// Eigenvalues (increasing) and eigenvectors of a symmetric matrix in single precision, as those of
/// linear_algebra.hpp: row k of `matrix` becomes the unit eigenvector of values[k].
void symmetric_eigen(std::size_t size, std::span<float> matrix, std::span<float> values);

}  // namespace onset::numerics
