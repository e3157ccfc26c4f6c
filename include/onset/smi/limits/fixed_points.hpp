#pragma once

#include <span>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/status.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi/limits/channel.hpp"

namespace onset::smi {

/// A fixed point of state evolution together with the sample ratio at which it is one [smi 19].
/// With the depth a_l = -log V_l of every learned layer, the fixed points of a stage form a curve,
/// and the position on it is the total depth s = sum_l a_l: a coordinate that runs from the stage's
/// start to perfect recovery (s = infinity) also where alpha folds back.
struct FixedPointNode {
  double position = 0.0;
  std::vector<numerics::Replicates> depth;  ///< a_l per layer; 0 where not learned
  numerics::Replicates log_alpha;           ///< sum_l (1 - V_l) / sum_l r_l
  std::vector<numerics::Replicates>
      growth;                         ///< F_l of the layers not learned; empty for the others
  numerics::Replicates log_evidence;  ///< Psi, estimated directly
  double relative_bias = 0.0;         ///< bound on the bias of alpha from inner integration
  std::vector<double> gain_bias;      ///< likewise, relative, of each learned layer's gain
  std::vector<double> growth_bias;    ///< likewise, relative, of each growth rate
  Status status;                      ///< evaluations of the channel, last Newton step
};

/// Solves for the fixed point at total depth `position` of the layers marked in `learned`, starting
/// from `guess` (depths; one per layer). Newton steps on the replicate means, then one step for
/// each replicate from its own residual, so that the scatter of the result is its error.
[[nodiscard]] FixedPointNode solve_fixed_point(const Channel& channel,
                                               const std::vector<bool>& learned, double position,
                                               const std::vector<double>& guess,
                                               const Context& context);

}  // namespace onset::smi
