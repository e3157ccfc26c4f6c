#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "smi/limits/spectral_law.hpp"
#include "smi/model/dataset.hpp"
#include "smi/verbs/model_fields.hpp"

/// What requests that use spectral methods have in common: the law of E[z z^T|y] of their model.
namespace onset::smi {

struct SpectralModel {
  std::shared_ptr<const TypedLink> typed = {};  ///< of a link that has an expression
  std::optional<int> one_layer = {};            ///< the tokens of plain attention of one layer

  [[nodiscard]] SpectralLaw law(const SequenceModel& model, int nodes, std::uint64_t seed,
                                const Context& context) const;
  /// G of every sample.
  [[nodiscard]] SampleExcess excess(const SequenceModel& model, const Dataset& data, int nodes,
                                    std::uint64_t seed, const Context& context) const;
  /// The directions that belong to every block of the law, as datasets of the model count them.
  [[nodiscard]] std::vector<std::vector<std::size_t>> directions(const SequenceModel& model) const;
  /// Whether the model's directions are those of the expression, and not turned ones.
  [[nodiscard]] bool has_directions_of(const SequenceModel& model) const;
};

/// Labels per replicate behind the law of attention.
inline constexpr std::size_t attention_law_labels = 1024;

/// Of a request whose fields are filled, the number of tokens perhaps not.
template <class Request>
[[nodiscard]] SpectralModel spectral_model(const Request& request) {
  using detail::filled;
  if (const auto typed = expressed_request(request)) return {typed->link};
  if (filled(request.weights) == Weights::untied) {
    throw Refused(prose(R"(
        spectral methods are not offered for untied weights: a label shows products of query and key
        fields, and the matrices here have one block of weights each; allowed: `weights = tied`)"));
  }
  // The named link of several outputs is attention of one layer.
  if (filled(request.link) != "none") return {.one_layer = 2};
  const DeepAttention attention{.layers = filled(request.layers),
                                .tokens = request.tokens.value_or(usual_tokens),
                                .skip = request.skip,
                                .beta = filled(request.beta),
                                .rank = request.rank,
                                .noise = filled(request.noise)};
  const bool is_plain = attention.plain() && filled(request.token_correlation) == "none";
  if (attention.layers == 1 && is_plain) return {.one_layer = attention.tokens};
  return {};
}

}  // namespace onset::smi
