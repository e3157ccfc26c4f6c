#include "numerics/linear_algebra/dense.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "numerics/linear_algebra/blas_buffers.hpp"
#include "numerics/linear_algebra/fortran_names.hpp"
#include "numerics/parallel.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

/// Rows or columns of the product per task: few enough to share out, enough to keep BLAS efficient.
constexpr std::size_t block = 128;

void require(bool fits, const char* field, const char* what) {
  if (!fits) throw InvalidArgument(field, what);
}

/// One operand as BLAS sees it: column-major, so a row-major matrix appears transposed.
struct Operand {
  const double* data;
  char transpose;
  std::size_t stride;
};

/// A block of a row-major product: `rows` x `columns` of it from `out`, sums over `inner`. In the
/// column-major eyes of BLAS it is the transpose of the product, hence the exchanged operands.
void block_product(const Operand& left, const Operand& right, std::size_t rows, std::size_t columns,
                   std::size_t inner, double* out, std::size_t out_stride) {
  const int m = static_cast<int>(columns);
  const int n = static_cast<int>(rows);
  const int k = static_cast<int>(inner);
  const int right_stride = static_cast<int>(std::max<std::size_t>(right.stride, 1));
  const int left_stride = static_cast<int>(std::max<std::size_t>(left.stride, 1));
  const int stride = static_cast<int>(std::max<std::size_t>(out_stride, 1));
  const double one = 1.0;
  const double zero = 0.0;
  const BlasCall call;
  dgemm_(&right.transpose, &left.transpose, &m, &n, &k, &one, right.data, &right_stride, left.data,
         &left_stride, &zero, out, &stride);
}

/// body(first, count) for the blocks of 0..size-1.
template <class Body>
void for_blocks(std::size_t size, const Context& context, const Body& body) {
  prepare_blas_calls();
  parallel_for(context, (size + block - 1) / block, [&](std::size_t i) {
    const std::size_t first = i * block;
    body(first, std::min(block, size - first));
  });
}

}  // namespace

void multiply(MatrixView a, MatrixView b, std::span<double> out, const Context& context) {
  require(a.columns == b.rows, "b", "its rows are not as many as the columns of a");
  require(out.size() == a.rows * b.columns, "out", "does not have the size of the product");
  for_blocks(a.rows, context, [&](std::size_t first, std::size_t count) {
    block_product({a.data + first * a.columns, 'N', a.columns}, {b.data, 'N', b.columns}, count,
                  b.columns, a.columns, out.data() + first * b.columns, b.columns);
  });
}

void multiply_by_transpose(MatrixView a, MatrixView b, std::span<double> out,
                           const Context& context) {
  require(a.columns == b.columns, "b", "has not as many columns as a");
  require(out.size() == a.rows * b.rows, "out", "does not have the size of the product");
  for_blocks(a.rows, context, [&](std::size_t first, std::size_t count) {
    block_product({a.data + first * a.columns, 'N', a.columns}, {b.data, 'T', b.columns}, count,
                  b.rows, a.columns, out.data() + first * b.rows, b.rows);
  });
}

void transpose_multiply(MatrixView a, MatrixView b, std::span<double> out, const Context& context) {
  require(a.rows == b.rows, "b", "has not as many rows as a");
  require(out.size() == a.columns * b.columns, "out", "does not have the size of the product");
  // The product is cut along its longer side, so that no sum is ever split.
  if (a.columns >= b.columns) {
    for_blocks(a.columns, context, [&](std::size_t first, std::size_t count) {
      block_product({a.data + first, 'T', a.columns}, {b.data, 'N', b.columns}, count, b.columns,
                    a.rows, out.data() + first * b.columns, b.columns);
    });
  } else {
    for_blocks(b.columns, context, [&](std::size_t first, std::size_t count) {
      block_product({a.data, 'T', a.columns}, {b.data + first, 'N', b.columns}, a.columns, count,
                    a.rows, out.data() + first, b.columns);
    });
  }
}

void square(MatrixView a, std::span<double> out, const Context& context) {
  require(out.size() == a.columns * a.columns, "out", "does not have the size of the product");
  for_blocks(a.columns, context, [&](std::size_t first, std::size_t count) {
    block_product({a.data + first, 'T', a.columns}, {a.data + first, 'N', a.columns}, count,
                  a.columns - first, a.rows, out.data() + first * (a.columns + 1), a.columns);
  });
}

void symmetric_eigen(std::size_t size, std::span<double> matrix, std::span<double> values) {
  require(matrix.size() == size * size, "matrix", "is not square");
  require(values.size() == size, "values", "does not have one place for each eigenvalue");
  if (size == 0) return;
  require(std::all_of(matrix.begin(), matrix.end(), [](double x) { return std::isfinite(x); }),
          "matrix", "has an entry that is not finite");
  const int n = static_cast<int>(size);
  // LAPACK's manual asks for this much workspace for eigenvectors by divide and conquer.
  const int work_size = 1 + 6 * n + 2 * n * n;
  const int whole_size = 3 + 5 * n;
  std::vector<double> work(static_cast<std::size_t>(work_size));
  std::vector<int> whole(static_cast<std::size_t>(whole_size));
  int info = 0;
  const BlasCall call;
  // The upper triangle by rows is the lower one by columns.
  dsyevd_("V", "L", &n, matrix.data(), &n, values.data(), work.data(), &work_size, whole.data(),
          &whole_size, &info);
  require(info == 0, "matrix", "has eigenvalues that LAPACK did not find");
}

}  // namespace onset::numerics
