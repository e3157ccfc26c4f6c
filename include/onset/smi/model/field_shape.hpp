#pragma once

#include <cstddef>
#include <vector>

namespace onset::smi {

/// The fields of one sample, z_{b p t}: blocks of directions that share one overlap (the layers of
/// an attention model), `rank` directions in a block, one number per token. Field z_{b p t} has the
/// number first(b) + p * tokens + t. Second moments within a block are the lower triangle of a
/// matrix over its fields; between blocks only sums over tokens are of use, one number per pair of
/// directions.
struct FieldShape {
  int tokens = 1;
  std::vector<int> rank;  ///< one per block

  [[nodiscard]] std::size_t blocks() const { return rank.size(); }
  /// The number of weight vectors: the sum of the ranks.
  [[nodiscard]] std::size_t directions() const {
    return fields() / static_cast<std::size_t>(tokens);
  }
  /// The number of fields of a block.
  [[nodiscard]] std::size_t size(std::size_t block) const {
    return static_cast<std::size_t>(rank[block]) * static_cast<std::size_t>(tokens);
  }
  [[nodiscard]] std::size_t first(std::size_t block) const {
    std::size_t sum = 0;
    for (std::size_t b = 0; b < block; ++b) sum += size(b);
    return sum;
  }
  [[nodiscard]] std::size_t fields() const { return first(blocks()); }
  [[nodiscard]] std::size_t pairs(std::size_t block) const {
    return size(block) * (size(block) + 1) / 2;
  }
  [[nodiscard]] std::size_t first_pair(std::size_t block) const {
    std::size_t sum = 0;
    for (std::size_t b = 0; b < block; ++b) sum += pairs(b);
    return sum;
  }
  [[nodiscard]] std::size_t all_pairs() const { return first_pair(blocks()); }
  /// The number of pairs of directions p > q, pairs within a block included; a pair has the number
  /// p (p - 1) / 2 + q.
  [[nodiscard]] std::size_t direction_pairs() const {
    return directions() * (directions() - 1) / 2;
  }
  [[nodiscard]] static std::size_t direction_pair(std::size_t p, std::size_t q) {
    return p > q ? p * (p - 1) / 2 + q : q * (q - 1) / 2 + p;
  }
};

}  // namespace onset::smi
