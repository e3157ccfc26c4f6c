#pragma once

#include <cstdint>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi/model/sequence_model.hpp"

namespace onset::smi {

/// Errors of the prediction on a fresh sample: squared distance, summed over all its numbers.
struct PredictionErrors {
  numerics::Replicates plugin;  ///< E||y(z) - y(omega)||^2, the error of the weights What
  numerics::Replicates bayes;   ///< the least possible one, half of E||y(z) - y(z')||^2 [smi 25]
};

/// `variance[b][r]` is V_b of replicate r. Every replicate is integrated at its own overlaps, so
/// that the scatter contains the error of the overlaps as well. `points` is the number per
/// replicate, a power of two.
[[nodiscard]] PredictionErrors prediction_errors(const SequenceModel& model,
                                                 const std::vector<numerics::Replicates>& variance,
                                                 std::size_t points, std::uint64_t seed,
                                                 const Context& context);

[[nodiscard]] PredictionErrors prediction_errors(const DeepAttention& model,
                                                 const std::vector<numerics::Replicates>& variance,
                                                 std::size_t points, std::uint64_t seed,
                                                 const Context& context);

}  // namespace onset::smi
