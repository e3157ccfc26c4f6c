#pragma once

#include <cstdint>
#include <optional>

#include "mha/model/examples.hpp"
#include "mha/model/layer.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"

/// How well examples show the heads of a layer, from the layer itself: what the phases would see if
/// they knew the sum of the projections.
namespace onset::mha {

/// The singular gap behind the heads [mha 15] of the 8 d^2 slabs on which the heads agree best
/// [mha 25]. It is 0 where the examples have too few rows for it. For layers of two heads or more.
[[nodiscard]] double oracle_gap(const Layer& layer, const Examples& examples,
                                const Context& context);

/// The oracle's gap at which the six phases, which must find the sum of the projections first, see
/// a gap of 3 themselves. Measured: over layers of 2 heads, d = 8 and 12, k = 2 and 3, the learner
/// has 0.3 to 0.65 of the oracle's gap.
inline constexpr double telling_gap = 8.0;

/// How many random examples bring the oracle's gap to `telling_gap`.
struct ExamplesNeeded {
  std::optional<double> examples;  ///< nothing where not even `tried` suffice
  std::size_t tried = 0;           ///< the largest number that was looked at
  double gap = 0.0;                ///< the oracle's gap there
  bool exhausted = false;          ///< whether these had nearly every distinct input
};
[[nodiscard]] ExamplesNeeded examples_needed(const Layer& layer, int tokens, Inputs inputs,
                                             std::uint64_t seed, const Context& context);

}  // namespace onset::mha
