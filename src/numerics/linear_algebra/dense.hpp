#pragma once

#include <cstddef>
#include <span>

#include "onset/core/context.hpp"

namespace onset::numerics {

/// A dense row-major matrix that somebody else owns.
struct MatrixView {
  const double* data = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
};

/// out = a b. The product is cut into fixed blocks of rows that run on context.threads threads,
/// each by BLAS on one thread, so that it has the same bits for any number of threads. Throws
/// InvalidArgument when the shapes do not fit.
void multiply(MatrixView a, MatrixView b, std::span<double> out, const Context& context);

/// out = a b^T, likewise.
void multiply_by_transpose(MatrixView a, MatrixView b, std::span<double> out,
                           const Context& context);

/// out = a^T b: sums over the rows of both in fixed blocks, added in a fixed order.
void transpose_multiply(MatrixView a, MatrixView b, std::span<double> out, const Context& context);

/// out = a^T a, its upper triangle only (the rest is left as it is), which takes half the time.
void square(MatrixView a, std::span<double> out, const Context& context);

/// Eigenvalues (increasing) and eigenvectors of a symmetric matrix (LAPACK dsyevd on one thread).
/// On return row k of `matrix` is the unit eigenvector of values[k]. Only the upper triangle of the
/// matrix is read. Throws InvalidArgument when an entry is not finite or LAPACK fails.
void symmetric_eigen(std::size_t size, std::span<double> matrix, std::span<double> values);

}  // namespace onset::numerics
