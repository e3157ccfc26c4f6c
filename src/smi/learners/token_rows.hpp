#pragma once

#include <cstddef>

/// The two products with the inputs that every learner of the family needs. Rows are tokens, `dim`
/// numbers each; there are few weights, so both are bound by the memory that the rows come from.
namespace onset::smi {

/// out[p * rows + r] = w_p . x_r / sqrt(dim): the fields of the rows [smi 1].
void project_rows(const double* x, std::size_t rows, std::size_t dim, const double* w,
                  std::size_t weights, double* out);

/// sum_p[d] += sum_r g[p * rows + r] x_r[d].
void back_project_rows(const double* x, std::size_t rows, std::size_t dim, const double* g,
                       std::size_t weights, double* sum);

}  // namespace onset::smi
