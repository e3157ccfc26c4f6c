#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "onset/numerics/replicates.hpp"

/// The resolution with which the integrals of a staircase begin; they are refined from there.
namespace onset::smi {

/// The number of inner nodes per half. Growth rates need more than gains do: with these the bias
/// left after its correction is near 1e-3 of a growth rate and 3e-4 of a gain.
inline constexpr int growth_nodes = 256;
inline constexpr int gain_nodes = 128;

/// With this many blocks or more, a posterior needs four times as many nodes.
inline constexpr std::size_t many_blocks = 5;

/// The number of nodes with which the integrals of a model with this many blocks begin, given the
/// number that a small model needs.
[[nodiscard]] constexpr int first_nodes(int nodes, std::size_t blocks) {
  return blocks < many_blocks ? nodes : 4 * nodes;
}

/// How much the mean has changed from one computation to another with other inner nodes, beyond
/// what chance explains: their noise is in the scatter of either already [smi 85].
[[nodiscard]] inline double systematic_change(const numerics::Replicates& from,
                                              const numerics::Replicates& to) {
  numerics::Replicates difference = to;
  for (std::size_t r = 0; r < difference.size(); ++r) difference[r] -= from[r];
  const Estimate e = numerics::reduce(difference);
  constexpr double chance = 2.0;  // the number of standard errors that chance explains
  return std::sqrt(std::max(0.0, e.value * e.value - chance * chance * e.error * e.error));
}

}  // namespace onset::smi
