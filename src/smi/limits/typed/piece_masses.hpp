#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

/// Replicates of the masses of pieces.
inline constexpr std::uint64_t piece_replicates = 8;

/// Which side of every switch a point lies on: a bit each, the first switch the highest.
using PieceKey = std::uint64_t;
/// From the values of the switches, the one of switch s at sides[s * stride].
[[nodiscard]] PieceKey piece_key(const double* sides, std::size_t switches, std::size_t stride);

struct PieceMass {
  numerics::Replicates mass = numerics::Replicates(piece_replicates, 0.0);
  std::vector<double> point = {};  ///< the fields of one of its points
};

/// The probability that standard normal fields lie in a piece of the link, a pattern of signs of
/// its switches. Along a line the switches are cut, and the parts in between are known in closed
/// form. One field has one line and is exact to rounding. With two fields the offsets of the lines
/// are integrated by an adaptive rule; with more, and for links that oscillate, they are scrambled
/// Sobol points. Every replicate has a rotation of its own, so that their scatter knows of edges
/// that are parallel to an axis.
[[nodiscard]] std::map<PieceKey, PieceMass> piece_masses(const TypedLink& link, std::uint64_t seed,
                                                         const Context& context);

}  // namespace onset::smi
