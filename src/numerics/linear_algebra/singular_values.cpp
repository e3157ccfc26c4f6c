#include "numerics/linear_algebra/singular_values.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/linear_algebra/blas_buffers.hpp"
#include "numerics/linear_algebra/fortran_names.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

// LAPACK is column-major and sees the transpose: its left vectors are the right ones of `matrix`.
std::vector<double> decompose(MatrixView matrix, std::vector<double>* vectors) {
  const std::size_t smaller = std::min(matrix.rows, matrix.columns);
  std::vector<double> values(smaller);
  if (smaller == 0) return values;
  std::vector<double> copy(matrix.data, matrix.data + matrix.rows * matrix.columns);
  if (!std::all_of(copy.begin(), copy.end(), [](double x) { return std::isfinite(x); })) {
    throw InvalidArgument("matrix", "has an entry that is not finite");
  }
  const int m = static_cast<int>(matrix.columns);
  const int n = static_cast<int>(matrix.rows);
  const int least = static_cast<int>(smaller);
  std::vector<double> other;
  if (vectors != nullptr) {
    vectors->resize(smaller * matrix.columns);
    other.resize(smaller * matrix.rows);
  }
  const char* job = vectors != nullptr ? "S" : "N";
  double unused = 0.0;
  double* left = vectors != nullptr ? vectors->data() : &unused;
  double* right = vectors != nullptr ? other.data() : &unused;
  std::vector<int> whole(8 * smaller);
  int info = 0;
  const BlasCall call;
  int work_size = -1;  // asks for the best size
  double best_size = 0.0;
  dgesdd_(job, &m, &n, copy.data(), &m, values.data(), left, &m, right, &least, &best_size,
          &work_size, whole.data(), &info);
  work_size = static_cast<int>(best_size);
  std::vector<double> work(static_cast<std::size_t>(work_size));
  dgesdd_(job, &m, &n, copy.data(), &m, values.data(), left, &m, right, &least, work.data(),
          &work_size, whole.data(), &info);
  if (info != 0) throw InvalidArgument("matrix", "has singular values that LAPACK did not find");
  return values;
}

}  // namespace

std::vector<double> singular_values(MatrixView matrix) {
  return decompose(matrix, nullptr);
}

std::vector<double> singular_values(MatrixView matrix, std::vector<double>& vectors) {
  return decompose(matrix, &vectors);
}

}  // namespace onset::numerics
