#pragma once

#include "mha/learners/sculpt/row_fit.hpp"

namespace onset::mha {

/// A sum of projections and how well the best rows agree with it: the score of the n_f-th row,
/// which labels alone decide.
struct Projection {
  Matrix w;
  double score = 0.0;
};

/// The number of rows that the refinement ends with, n_f = 8 d^2 / (k - 1).
[[nodiscard]] std::size_t trimmed_rows(const Subset& sample);

/// The score of the n_f-th best row under w.
[[nodiscard]] double nth_score(const Subset& sample, const Matrix& w, const Context& context);

/// Phase 3: the bar on scores falls every round from that of `share` of all rows to that of n_f,
/// and w takes a Gauss-Newton step on the residuals, weighted by score over bar, with the attention
/// eliminated [mha 14].
[[nodiscard]] Projection refine_trimmed(const Subset& sample, const Matrix& start, double share,
                                        const Context& context);

}  // namespace onset::mha
