#pragma once

#include <cstddef>

/// Long single-precision vectors: what a full-dimensional step of SGD needs besides random numbers.
/// Sums are taken in a fixed number of lanes, so that the same level gives the same bits.
namespace onset::numerics::simd {

[[nodiscard]] float dot(const float* a, const float* b, std::size_t count);
/// w += factor x; returns the new |w|^2.
float add_scaled(float factor, const float* x, float* w, std::size_t count);

}  // namespace onset::numerics::simd
