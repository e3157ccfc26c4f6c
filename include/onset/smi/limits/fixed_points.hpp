#pragma once

#include <span>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/status.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi/limits/channel.hpp"

namespace onset::smi {

/// A fixed point of state evolution together with the sample ratio at which it is one [smi 19].
/// With the log precision a_b = -log V_b of every learned block, the fixed points of a stage form a
/// curve, and the position on it is the total log precision s = sum_b a_b: a coordinate that runs
/// from the stage's start to perfect recovery (s = infinity) also where alpha folds back.
struct FixedPointNode {
  double position = 0.0;
  std::vector<numerics::Replicates> log_precision;  ///< a_b per block
  numerics::Replicates log_alpha;                   ///< sum_b rank_b (1 - V_b) / sum_b rank_b r_b
  std::vector<numerics::Replicates> growth;  ///< F_b of blocks not learned; empty for the others
  std::vector<numerics::Replicates> pull;    ///< r_b of blocks not learned; empty for the others
  /// alpha C_bn of [smi 35], the largest in size over pairs of a learned block and one that is not:
  /// the growth factor of an overlap across them. Empty where symmetry does not decouple them.
  numerics::Replicates cross_growth;
  numerics::Replicates log_evidence;  ///< Psi, estimated directly
  double relative_bias = 0.0;         ///< bound on the bias of alpha from inner integration
  std::vector<double> gain_bias;      ///< likewise, relative, of each learned block's gain
  std::vector<double> growth_bias;    ///< likewise, relative, of each growth rate
  Status status;                      ///< evaluations of the channel, last Newton step

  /// log(alpha F_b) of a block that is not learned; the block grows where this is above 0.
  [[nodiscard]] numerics::Replicates log_growth(std::size_t block) const;
};

/// A relative bias below this is rounding: the posterior is exact.
inline constexpr double exact_bias = 1e-9;

/// Solves for the fixed point at total log precision `position` of the blocks marked in `learned`,
/// starting from `guess` (log precisions; one per block). The other blocks are held at the log
/// precisions that `guess` has for them: 0 when they are not learned, a large number when they are
/// recovered exactly. It makes Newton steps on the replicate means, then one step for each
/// replicate from its own residual, so that the scatter of the result is its error.
[[nodiscard]] FixedPointNode solve_fixed_point(const Channel& channel, const Channel& slopes,
                                               const std::vector<bool>& learned, double position,
                                               const std::vector<double>& guess,
                                               const Context& context);

/// The same where `block`, which is not learned, starts to grow: alpha F = 1 takes the place of a
/// given position [smi 20]. `relative_bias` is then that of the threshold: the growth rate's and
/// the gains' together. Slopes are measured with the channel `slopes`, which may be the coarser:
/// they only guide the solver and pass on scatter.
[[nodiscard]] FixedPointNode solve_threshold(const Channel& channel, const Channel& slopes,
                                             const std::vector<bool>& learned, std::size_t block,
                                             const std::vector<double>& guess,
                                             const Context& context);

}  // namespace onset::smi
