#pragma once

#include "core/fields.hpp"
#include "onset/core/error.hpp"
#include "onset/smi/model/links.hpp"
#include "smi/verbs/named_model.hpp"

/// What all requests of the family have in common: the fields that describe the model.
namespace onset::smi {

/// The grid of sample ratios.
inline const FieldRule alpha_rule{
    .min = 0.0, .max = 1e6, .open_min = true, .required = true, .grid = true};
inline constexpr const char* alpha_text = "Sample ratios N/D (samples over dimension).";

template <class Request>
[[nodiscard]] Fields<Request> model_fields() {
  Fields<Request> fields;
  fields.add("layers", &Request::layers, {.min = 1, .max = supported_layers}, "Attention layers.")
      .add("tokens", &Request::tokens, {.min = 2, .max = max_tokens},
           "Tokens of a sample; up to 8 with more than one layer.")
      .add("skip", &Request::skip, {.min = 0.0, .max = max_skip},
           "Strength c of the skip connection after each layer: one for all, or one each (after "
           "the last there is none: its value has no effect and may be omitted).")
      .add("beta", &Request::beta, {.min = min_beta, .max = max_beta},
           "Inverse temperature of every softmax.")
      .add("rank", &Request::rank, {.min = 1, .max = max_rank},
           "Directions of each layer: one number for all, or one each; at most two in the last "
           "layer.")
      .add("noise", &Request::noise, {.min = 0.0, .max = max_noise},
           "Standard deviation of Gaussian noise on the last layer's fields u.")
      .add("token-correlation", &Request::token_correlation, {},
           "Covariance of the tokens: none, R or equi:R (R between any two), ar1:R (R^|i-j|), or a "
           "file with the matrix.")
      .add("link", &Request::link, {.words = link_words()},
           "A multi-index model by name instead of deep attention.");
  return fields;
}

/// A link has no layers: what describes them must be left at its default.
template <class Request>
void refuse_with_link(const Request& request) {
  const Parameters given = model_fields<Request>().write(request);
  const Parameters usual = model_fields<Request>().write({});
  for (const auto& [name, value] : given.values()) {
    if (name == "link" || value == usual.values().at(name)) continue;
    throw InvalidArgument("--" + name,
                          "is of deep attention, and not available with --link; allowed: leaving "
                          "it out, or attention of one layer as --layers 1");
  }
}

/// Reads the file of correlations, if one is named, into the request, and builds the model. Throws
/// InvalidArgument naming the option, and Refused.
template <class Request>
[[nodiscard]] NamedModel settle_model(Request& request) {
  request.token_correlation = read_correlation(request.token_correlation);
  if (request.link != "none") {
    refuse_with_link(request);
    return named_link(request.link);
  }
  return named_attention({.layers = request.layers,
                          .tokens = request.tokens,
                          .skip = request.skip,
                          .beta = request.beta,
                          .rank = request.rank,
                          .noise = request.noise},
                         request.token_correlation);
}

}  // namespace onset::smi
