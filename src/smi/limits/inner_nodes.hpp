#pragma once

#include <cstddef>

/// How finely the integrals of a staircase begin; they are refined from there.
namespace onset::smi {

/// Inner nodes per half. Growth rates need more than gains do: with these the bias left after its
/// correction is near 1e-3 of a growth rate and 3e-4 of a gain.
inline constexpr int growth_nodes = 256;
inline constexpr int gain_nodes = 128;

/// Outer points per replicate that slopes are measured with.
inline constexpr std::size_t slope_points = 128;

}  // namespace onset::smi
