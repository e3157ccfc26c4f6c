#pragma once

#include <cstddef>
#include <cstdint>

namespace onset::numerics::simd {

/// The number of copies of the generator that step together; any vector length up to it gives the
/// same words.
inline constexpr std::size_t generator_copies = 8;
/// A tile is made of two steps of all copies: of radii, then of angles.
template <class Real>
inline constexpr std::size_t normals_per_tile = 2 * generator_copies * (8 / sizeof(Real));

/// Tiles of normals from eight copies of xoshiro256+, word w of copy c at state[8 w + c], by the
/// transform of Box and Muller: the first half of a tile is radius times cosine, the second radius
/// times sine. `bits`, if not null, receives the words they were made of, in the same places
/// (doubles only).
void normals(std::uint64_t* state, std::size_t tiles, double* out, std::uint64_t* bits);
void normals(std::uint64_t* state, std::size_t tiles, float* out, std::uint64_t* bits);

}  // namespace onset::numerics::simd
