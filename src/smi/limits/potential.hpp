#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/smi/limits/channel.hpp"

namespace onset::smi {

/// Which kind of maximum of the free entropy a point is on its path or grid, as far as errors tell:
/// one point is `global`, above all others, or several are `unresolved`, of which errors do not
/// tell which is the largest.
enum class Maximum { none, local, global, unresolved };

/// The free entropy at one choice of overlaps.
struct PotentialPoint {
  std::vector<double> overlap;  ///< Q_b, one per block
  Estimate free_entropy;        ///< Phi
  Maximum maximum = Maximum::none;
};

/// Overlaps at which the free entropy is wanted: every block takes the values of its list, in all
/// combinations, or (`together`) all blocks take the k-th value at once.
struct OverlapGrid {
  std::vector<std::vector<double>> values;  ///< per block, increasing, in [0, 1)
  bool together = false;
  void validate() const;
};

/// Phi(Q) = sum_b rank_b (Q_b + log V_b) / 2 + alpha Psi(Q) [smi 22] for every sample ratio: one
/// list of points each, the first block varying slowest. Psi does not depend on alpha and is
/// computed once for each point. Stationary points of Phi are the fixed points of state evolution,
/// its global maximum the Bayes-optimal one.
[[nodiscard]] std::vector<std::vector<PotentialPoint>> potential(const Channel& channel,
                                                                 const OverlapGrid& grid,
                                                                 std::span<const double> alphas,
                                                                 const Context& context);

}  // namespace onset::smi
