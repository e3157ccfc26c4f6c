#pragma once

#include <cstddef>

namespace onset::ssi {

/// softmax_rows(z z^T), entry (i, j) at f[(i L + j) count]. Scores are shifted by their row's
/// largest.
void attention_matrix(std::size_t tokens, std::size_t count, const double* z, double* f);

/// scale softmax_rows(z z^T) + (fixed, rest; rest, fixed) of two tokens.
void two_token_attention(std::size_t count, const double* z, double scale, double fixed,
                         double rest, double* f);

/// delta_i = sum_j (H_ij + H_ji) z_j, H_ij = F_ij (w_ij - sum_k F_ik w_ik). [ssi 5]
void attention_pullback(std::size_t tokens, std::size_t count, const double* z, const double* f,
                        const double* w, double* delta);

/// Roughly the nanoseconds that either takes at one point of many.
[[nodiscard]] double attention_ns(std::size_t tokens);

}  // namespace onset::ssi
