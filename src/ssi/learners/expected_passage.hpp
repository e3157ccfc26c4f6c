#pragma once

#include "onset/core/estimate.hpp"
#include "onset/ssi/learners/sgd.hpp"
#include "onset/ssi/limits/flow.hpp"

namespace onset::ssi {

/// The mean number of steps after which |m| first reaches the level, by the diffusion at large d
/// [ssi 19] without a positional encoding: a boundary-value problem in m, averaged over the start
/// [ssi 39]. The error has the rules of the field and the grid. The value is infinite where the
/// mean exceeds what a double holds, as it does beyond the largest rate. `options` gives the
/// dimension, the level and the start.
[[nodiscard]] Estimate expected_passage(const FlowField& field, const SgdOptions& options);

}  // namespace onset::ssi
