#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "aim/model/attention_indexed.hpp"
#include "aim/model/data.hpp"
#include "aim/model/layers/two_layers.hpp"
#include "onset/core/context.hpp"

namespace onset::aim {

/// Samples of a network of two layers. A label is kept as the two fields that it shows: the
/// logarithms of its odds over beta.
struct TwoLayerData {
  Dataset tokens;  ///< without labels
  std::vector<PairFields> shown;
  std::array<std::vector<double>, 2> truth;  ///< S of each layer, d x d
};

/// A symmetric Gaussian matrix, d x d: entries of variance 1/d, and 2/d on the diagonal.
[[nodiscard]] std::vector<double> wigner_matrix(std::size_t dim, std::uint64_t seed,
                                                std::uint64_t index);

/// Draws both matrices, tokens, and the network's labels; `source.index` tells runs apart.
[[nodiscard]] TwoLayerData sample_two_layers(const AttentionIndexed& model, std::size_t dim,
                                             std::size_t samples, const DataSource& source,
                                             const Context& context);

}  // namespace onset::aim
