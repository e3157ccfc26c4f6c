#pragma once

#include <cstdint>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi/model/deep_attention.hpp"

namespace onset::smi {

/// Errors on the label of a fresh sample: squared Frobenius norm, summed over all entries.
struct PredictionErrors {
  numerics::Replicates plugin;  ///< E||y(z) - y(omega)||^2: what a student with weights What does
  numerics::Replicates bayes;   ///< the least possible: half of E||y(z) - y(z')||^2 [smi 25]
};

/// `variance[l][r]`: V_l of replicate r; every replicate is integrated at its own overlaps, so that
/// the scatter holds the error of the overlaps as well. `points` per replicate, a power of two.
[[nodiscard]] PredictionErrors prediction_errors(const DeepAttention& model,
                                                 const std::vector<numerics::Replicates>& variance,
                                                 std::size_t points, std::uint64_t seed,
                                                 const Context& context);

}  // namespace onset::smi
