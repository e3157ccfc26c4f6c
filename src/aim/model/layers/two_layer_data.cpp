#include "aim/model/layers/two_layer_data.hpp"

#include <cmath>

#include "aim/model/token_products.hpp"
#include "numerics/random/stream.hpp"

namespace onset::aim {

std::vector<double> wigner_matrix(std::size_t dim, std::uint64_t seed, std::uint64_t index) {
  std::vector<double> z(dim * dim);
  numerics::Stream(seed, "aim wigner", index).normal(z);
  const double scale = 1.0 / std::sqrt(2.0 * static_cast<double>(dim));
  std::vector<double> matrix(dim * dim);
  for (std::size_t i = 0; i < dim; ++i) {
    for (std::size_t j = 0; j < dim; ++j) {
      matrix[i * dim + j] = scale * (z[i * dim + j] + z[j * dim + i]);
    }
  }
  return matrix;
}

TwoLayerData sample_two_layers(const AttentionIndexed& model, std::size_t dim, std::size_t samples,
                               const DataSource& source, const Context& context) {
  TwoLayerData data;
  data.tokens = sample_tokens(model.tokens, dim, samples, source, context);
  const auto products = token_products(data.tokens, context);
  std::array<std::vector<double>, 2> scores;
  for (std::size_t l = 0; l < 2; ++l) {
    data.truth[l] = wigner_matrix(dim, source.seed, 2 * source.index + l);
    scores[l].resize(3 * samples);
    scores_of(*products, data.truth[l], 2, scores[l]);
  }
  const TwoLayers network{model.beta, model.skip};
  data.shown.reserve(samples);
  for (std::size_t s = 0; s < samples; ++s) {
    data.shown.push_back(
        network.shown(fields_of(scores[0].data() + 3 * s), fields_of(scores[1].data() + 3 * s)));
  }
  return data;
}

}  // namespace onset::aim
