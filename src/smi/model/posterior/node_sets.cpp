#include "smi/model/posterior/node_sets.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/simd/clones.hpp"
#include "numerics/simd/vector_math.hpp"

namespace onset::smi {
namespace {

constexpr std::size_t replicate_blocks = 16;
/// The number of nodes of all sets of a replicate together: many small sets, or a few large ones.
constexpr std::size_t nodes_of_a_replicate = 16384;
constexpr std::size_t max_sets = 64;
constexpr std::size_t min_sets = 4;

/// Keeps the scrambles of inner nodes apart from those of outer points, which count from 0.
constexpr std::uint64_t first_scramble = std::uint64_t{1} << 41;

ONSET_CLONES void rotate(double cosine, double sine, const double* a, const double* b, double* x,
                         double* y, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    x[k] = cosine * a[k] - sine * b[k];
    y[k] = sine * a[k] + cosine * b[k];
  }
}

}  // namespace

/// Hashes with the finaliser of SplitMix64.
double hashed_uniform(std::uint64_t key, std::uint64_t salt) {
  std::uint64_t x = key + 0x9e3779b97f4a7c15ULL * (salt + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-53;
}

NodeSets::NodeSets(int dimensions, std::size_t nodes, std::uint64_t seed)
    : dimensions_(static_cast<std::size_t>(dimensions)),
      nodes_(nodes),
      sets_(std::clamp(nodes_of_a_replicate / nodes, min_sets, max_sets)) {
  if (dimensions == 0) return;
  const std::size_t half = nodes / 2;
  const std::size_t all = sets_ * replicate_blocks;
  normals_.resize(all * dimensions_ * half);
  for (std::size_t set = 0; set < all; ++set) {
    const auto out = std::span(normals_).subspan(set * dimensions_ * half, dimensions_ * half);
    numerics::scrambled_sobol(dimensions, seed, first_scramble + set)->points(0, half, out);
    numerics::simd::normal_quantile(out, out);
  }
}

void NodeSets::draw(std::uint64_t replicate, std::uint64_t sample, std::uint64_t half_index,
                    double* out) const {
  const std::size_t half = nodes_ / 2;
  const std::uint64_t number = 2 * sample + half_index;
  const std::uint64_t key = (replicate << 40) + number;
  const std::size_t set = (replicate % replicate_blocks) * sets_ + number % sets_;
  const double* source = normals_.data() + set * dimensions_ * half;
  for (std::size_t d = 0; d < dimensions_; d += 2) {
    const double angle = 2.0 * std::numbers::pi * hashed_uniform(key, d);
    if (d + 1 < dimensions_) {
      rotate(std::cos(angle), std::sin(angle), source + d * half, source + (d + 1) * half,
             out + d * nodes_, out + (d + 1) * nodes_, half);
    } else {
      const double sign = angle < std::numbers::pi ? 1.0 : -1.0;
      for (std::size_t k = 0; k < half; ++k) out[d * nodes_ + k] = sign * source[d * half + k];
    }
  }
  for (std::size_t d = 0; d < dimensions_; ++d) {
    for (std::size_t k = 0; k < half; ++k) out[d * nodes_ + half + k] = -out[d * nodes_ + k];
  }
}

}  // namespace onset::smi
