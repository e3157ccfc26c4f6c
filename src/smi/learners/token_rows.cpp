#include "smi/learners/token_rows.hpp"

#include <cmath>

#include "numerics/simd/clones.hpp"

namespace onset::smi {
namespace {

/// The number of partial sums of a scalar product; it is fixed, so that every instruction set adds
/// in the same order.
constexpr std::size_t lanes = 8;
/// The number of rows that are worked on together, so that a weight is loaded once for all of them.
constexpr std::size_t group = 4;

ONSET_CLONES void dot_group(const double* x, std::size_t dim, const double* w, double* out) {
  double sum[group][lanes] = {};
  const std::size_t whole = dim - dim % lanes;
  for (std::size_t d = 0; d < whole; d += lanes) {
    for (std::size_t r = 0; r < group; ++r) {
      for (std::size_t k = 0; k < lanes; ++k) sum[r][k] += x[r * dim + d + k] * w[d + k];
    }
  }
  for (std::size_t r = 0; r < group; ++r) {
    double total = 0.0;
    for (std::size_t k = 0; k < lanes; ++k) total += sum[r][k];
    for (std::size_t d = whole; d < dim; ++d) total += x[r * dim + d] * w[d];
    out[r] = total;
  }
}

double dot(const double* x, std::size_t dim, const double* w) {
  double total = 0.0;
  for (std::size_t d = 0; d < dim; ++d) total += x[d] * w[d];
  return total;
}

ONSET_CLONES void add_group(const double* x, std::size_t dim, const double* g, double* sum) {
  const double *x1 = x + dim, *x2 = x1 + dim, *x3 = x2 + dim;
  const double g0 = g[0], g1 = g[1], g2 = g[2], g3 = g[3];
  for (std::size_t d = 0; d < dim; ++d) {
    sum[d] += (g0 * x[d] + g1 * x1[d]) + (g2 * x2[d] + g3 * x3[d]);
  }
}

}  // namespace

void project_rows(const double* x, std::size_t rows, std::size_t dim, const double* w,
                  std::size_t weights, double* out) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(dim));
  for (std::size_t r = 0; r < rows; r += group) {
    const bool whole = r + group <= rows;
    for (std::size_t p = 0; p < weights; ++p) {
      double* fields = out + p * rows + r;
      const std::size_t count = whole ? group : rows - r;
      if (whole) {
        dot_group(x + r * dim, dim, w + p * dim, fields);
      } else {
        for (std::size_t k = 0; k < count; ++k) {
          fields[k] = dot(x + (r + k) * dim, dim, w + p * dim);
        }
      }
      for (std::size_t k = 0; k < count; ++k) fields[k] *= scale;
    }
  }
}

void back_project_rows(const double* x, std::size_t rows, std::size_t dim, const double* g,
                       std::size_t weights, double* sum) {
  for (std::size_t r = 0; r < rows; r += group) {
    for (std::size_t p = 0; p < weights; ++p) {
      const double* factors = g + p * rows + r;
      double* total = sum + p * dim;
      if (r + group <= rows) {
        add_group(x + r * dim, dim, factors, total);
        continue;
      }
      for (std::size_t k = 0; r + k < rows; ++k) {
        for (std::size_t d = 0; d < dim; ++d) total[d] += factors[k] * x[(r + k) * dim + d];
      }
    }
  }
}

}  // namespace onset::smi
