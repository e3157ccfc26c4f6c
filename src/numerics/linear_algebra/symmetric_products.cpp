#include "numerics/linear_algebra/symmetric_products.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "numerics/linear_algebra/blas_buffers.hpp"
#include "numerics/linear_algebra/fortran_names.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

/// The width of the blocks that a triangle is cut into: wide enough to keep BLAS efficient, narrow
/// enough that little is computed beyond the triangle.
constexpr std::size_t triangle_block = 64;

/// out = a b + keep out in the column-major eyes of BLAS, which sees the transposes of our
/// matrices.
template <class Real>
struct ColumnProduct {
  const Real* a;
  const Real* b;
  char b_form;
  std::size_t rows;
  std::size_t columns;
  std::size_t inner;
  Real* out;
  Real keep;
};

void run(const ColumnProduct<float>& p, int stride) {
  const int m = static_cast<int>(p.rows);
  const int n = static_cast<int>(p.columns);
  const int k = static_cast<int>(p.inner);
  const float one = 1.0F;
  sgemm_("N", &p.b_form, &m, &n, &k, &one, p.a, &stride, p.b, &stride, &p.keep, p.out, &stride);
}

void run(const ColumnProduct<double>& p, int stride) {
  const int m = static_cast<int>(p.rows);
  const int n = static_cast<int>(p.columns);
  const int k = static_cast<int>(p.inner);
  const double one = 1.0;
  dgemm_("N", &p.b_form, &m, &n, &k, &one, p.a, &stride, p.b, &stride, &p.keep, p.out, &stride);
}

/// Rows of the product from the diagonal on, a block at a time.
template <class Real>
void add_upper_blocks(const Real* a, const Real* b, std::size_t rows, std::size_t size, Real* sum) {
  const BlasCall call;
  for (std::size_t first = 0; first < size; first += triangle_block) {
    const std::size_t width = std::min(triangle_block, size - first);
    run({b + first, a + first, 'T', size - first, width, rows, sum + first * size + first, Real{1}},
        static_cast<int>(size));
  }
}

}  // namespace

void triangular_product(const float* x, std::size_t rows, std::size_t size, const float* u,
                        float* out) {
  const BlasCall call;
  for (std::size_t first = 0; first < size; first += triangle_block) {
    const std::size_t end = std::min(first + triangle_block, size);
    run({u + first, x, 'N', end - first, rows, end, out + first, 0.0F}, static_cast<int>(size));
  }
}

void add_upper_product(const float* a, const float* b, std::size_t rows, std::size_t size,
                       float* sum) {
  add_upper_blocks(a, b, rows, size, sum);
}

void add_upper_product(const double* a, const double* b, std::size_t rows, std::size_t size,
                       double* sum) {
  add_upper_blocks(a, b, rows, size, sum);
}

void symmetric_eigen(std::size_t size, std::span<float> matrix, std::span<float> values) {
  const auto finite = [](float x) { return std::isfinite(x); };
  if (matrix.size() != size * size || values.size() != size ||
      !std::all_of(matrix.begin(), matrix.end(), finite)) {
    throw InvalidArgument("matrix", "is not square, or has an entry that is not finite");
  }
  if (size == 0) return;
  const int n = static_cast<int>(size);
  // LAPACK's manual asks for this much workspace for eigenvectors by divide and conquer.
  const int work_size = 1 + 6 * n + 2 * n * n;
  const int whole_size = 3 + 5 * n;
  std::vector<float> work(static_cast<std::size_t>(work_size));
  std::vector<int> whole(static_cast<std::size_t>(whole_size));
  int info = 0;
  const BlasCall call;
  // The upper triangle by rows is the lower one by columns.
  ssyevd_("V", "L", &n, matrix.data(), &n, values.data(), work.data(), &work_size, whole.data(),
          &whole_size, &info);
  if (info != 0) throw InvalidArgument("matrix", "has eigenvalues that LAPACK did not find");
}

}  // namespace onset::numerics
