#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace onset::smi {

/// A uniform number in [0, 1) that depends on its two keys only.
[[nodiscard]] double hashed_uniform(std::uint64_t key, std::uint64_t salt);

/// Standard normal nodes for inner integrals: scrambled Sobol points, each with its reflection,
/// which samples share after a random rotation. Too few sets put a floor under the error that more
/// samples cannot lower; replicates draw from disjoint sets, so that their scatter shows this.
class NodeSets {
 public:
  /// `nodes` must be a power of two.
  NodeSets(int dimensions, std::size_t nodes, std::uint64_t seed);

  /// The nodes of one sample's estimate `half` (0 or 1): out[dimension * nodes + node]; node
  /// nodes/2 + i is the reflection of node i. They depend on the arguments only.
  void draw(std::uint64_t replicate, std::uint64_t sample, std::uint64_t half, double* out) const;

 private:
  std::size_t dimensions_;
  std::size_t nodes_;
  std::size_t sets_;  // per replicate
  std::vector<double> normals_;
};

}  // namespace onset::smi
