#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace onset::numerics {

/// Randomised low-discrepancy points in (0, 1)^dimensions. One object is one replicate: two objects
/// with different `replicate` are independent, and every point is uniform by itself.
class PointSet {
 public:
  virtual ~PointSet() = default;
  [[nodiscard]] virtual int dimensions() const = 0;
  /// Points first, .., first+count-1, dimension by dimension: out[d * count + i]. Any range is
  /// computed directly. Throws InvalidArgument past the last point, or when out has not
  /// count * dimensions elements.
  virtual void points(std::size_t first, std::size_t count, std::span<double> out) const = 0;
};

/// Sobol points (Joe-Kuo directions) with a random linear matrix scramble and a digital shift (Owen
/// 1998, Matousek 1998), in natural order, 2^52 of them. Use powers of two. The first 2^k points
/// are a prefix of the first 2^(k+1), and a coordinate does not depend on the number of dimensions.
[[nodiscard]] std::unique_ptr<PointSet> scrambled_sobol(int dimensions, std::uint64_t seed,
                                                        std::uint64_t replicate);
inline constexpr int max_sobol_dimensions = 192;

/// A randomly shifted rank-1 lattice of `size` points (a power of two) with the tent transform. Odd
/// generators make it antithetic: points i and i + size/2 are exact reflections of one another in
/// every coordinate. One vector of generators serves all sizes (tools/generate_lattice.cpp).
[[nodiscard]] std::unique_ptr<PointSet> shifted_lattice(int dimensions, std::size_t size,
                                                        std::uint64_t seed,
                                                        std::uint64_t replicate);
inline constexpr int max_lattice_dimensions = 24;
inline constexpr std::size_t max_lattice_size = std::size_t{1} << 16;

}  // namespace onset::numerics
