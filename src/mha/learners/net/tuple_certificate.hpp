#pragma once

#include <vector>

#include "mha/learners/polish/head_features.hpp"

namespace onset::mha {

/// What the linear program says about a tuple of theta [mha 19]: for every output coordinate the
/// least tau with |y - sum_i Z_i w_i| <= tau on all rows. The multipliers prove a lower bound: with
/// |lambda|_1 <= 1 and Z^T lambda = 0, no w explains the labels within less than y . lambda.
struct TupleCertificate {
  double tau = 0.0;    ///< the largest over outputs; negative when Clp failed
  int output = 0;      ///< the output that has it
  Vector multipliers;  ///< the multipliers of that output, one per row
};

/// Solves one linear program per output coordinate.
[[nodiscard]] TupleCertificate certify_tuple(const Subset& sample,
                                             const std::vector<Vector>& thetas,
                                             const Context& context);

}  // namespace onset::mha
