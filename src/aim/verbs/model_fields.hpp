#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aim/model/attention_indexed.hpp"
#include "core/fields.hpp"
#include "core/prose.hpp"

/// What all requests of the family have in common: the fields that describe the model.
namespace onset::aim {

inline constexpr const char* alpha_meaning =
    "sample ratio alpha = n/d^2 (samples over dimension squared); n/(d r) with `rho = 0`";
/// What alpha is for data, which always have a width.
inline constexpr const char* data_alpha_meaning =
    "sample ratio alpha = n/d^2 (samples over dimension squared)";

inline constexpr double max_alpha = 1e9;
inline constexpr double max_noise = 1e3;

/// Words and help of --channel and --tokens, from the list of channels.
[[nodiscard]] std::vector<std::string> channel_words();
[[nodiscard]] std::string channel_text();
[[nodiscard]] std::string tokens_text();

/// What data are made with, by the names that their manifest has. The noise is there as a variance.
template <class Request>
[[nodiscard]] Fields<Request> stored_model_fields() {
  Fields<Request> fields;
  fields.add("channel", &Request::channel, {.words = channel_words()}, channel_text())
      .add("tokens", &Request::tokens, {.min = 1, .max = max_tokens}, tokens_text())
      .add("rho", &Request::rho, {.min = min_rho, .max = max_rho},
           "Width ratio rho = r/d of the matrix W.")
      .add("beta", &Request::beta, {.min = min_beta, .max = max_beta},
           "Inverse temperature of softmax labels; of the limits, errors on labels depend on it, "
           "and what is known of the matrix does not.")
      .add("noise-variance", &Request::noise_variance, {.min = 0.0, .max = max_noise * max_noise},
           "Variance s of Gaussian noise on the scores behind linear and softmax labels; 0 without "
           "it and `noise`.")
      .add_word("noise-kind", &Request::noise_kind,
                std::vector{NoiseKind::scaled, NoiseKind::equal}, prose(R"(
          scaled: variance s (1 + delta_ab), in proportion to the score's own; equal: s on every
          entry a <= b.)"));
  return fields;
}

/// What data and learners need of a model.
template <class Request>
[[nodiscard]] Fields<Request> model_fields() {
  Fields<Request> fields = stored_model_fields<Request>();
  fields.add("noise", &Request::noise, {.min = 0.0, .max = max_noise},
             "The standard deviation sqrt(s) of that noise, instead of `noise_variance`.");
  return fields;
}

/// The law of the matrices and what several layers do; `labels` says what else is possible.
template <class Request>
void add_layers(Fields<Request>& fields, const std::string& labels) {
  fields
      .add_word("prior", &Request::prior, {PriorKind::wishart, PriorKind::wigner}, prose(R"(
          Law of S: W W^T of width ratio rho, or a Gaussian symmetric matrix (the limit of large
          widths without its mean; rho has no effect).)"))
      .add("layers", &Request::layers, {.min = 1, .max = max_layers},
           "Layers, each with a matrix of its own.")
      .add_word("labels", &Request::labels,
                {LayerLabels::deep, LayerLabels::separate, LayerLabels::sum}, labels);
}

/// The skip connection of layers behind one label.
template <class Request>
void add_skip(Fields<Request>& fields) {
  fields.add("skip", &Request::skip, {.min = 0.0, .max = max_skip}, prose(R"(
      Strength c of the skip connection between layers behind one label (`labels = deep`), whose
      tokens are mixed by softmax + c.)"));
}

/// What only the limits have besides: priors, layers, published variants.
template <class Request>
[[nodiscard]] Fields<Request> limit_fields() {
  Fields<Request> fields = model_fields<Request>();
  Parameter& rho = fields.edit("rho");
  rho.min = 0.0;
  rho.text =
      "Width ratio rho = r/d of the matrix W; 0: the limit of small widths, alpha meaning n/(d r).";
  add_layers(fields, prose(R"(
      With several layers: one label of a deep network (two layers of two tokens, softmax without
      noise, needs `prior = wigner`), one for each layer, or one of the sum of their scores (needs
      `prior = wigner`). With one layer all three are the same.)"));
  fields
      .add_word("output", &Request::output, {HardmaxOutput::exact, HardmaxOutput::density},
                prose(R"(
          Hardmax of two tokens: the Bayes-optimal output function, or the one behind the
          published curves, for comparison.)"))
      .add("label-scale", &Request::label_scale, {.min = 0.01, .max = 2.0}, prose(R"(
          Hardmax of two tokens: variance of off-diagonal scores in labels (2 in a published
          program).)"));
  return fields;
}

/// Fills the standard deviation or the variance of the noise from the other one. Throws
/// InvalidArgument when both are given and contradict each other.
void settle_noise(std::optional<double>& deviation, std::optional<double>& variance);

/// Throws InvalidArgument with the option's name for a field that is wrong, and Refused for layers
/// whose state evolution does not close.
[[nodiscard]] AttentionIndexed checked_model(const AttentionIndexed& model);

/// What can be known of hardmax labels has no softmax in it, unlike students that are trained on
/// them. Throws InvalidArgument naming `beta`.
void refuse_beta_of_hardmax(const AttentionIndexed& model);

/// The kind of a noise that nobody has asked for has no effect. Throws InvalidArgument naming
/// `noise_kind`; a noise of 0 that was asked for, as one point of a sweep has it, is fine.
void refuse_kind_without_noise(NoiseKind kind);

/// Settles the noise and builds the model.
template <class Request>
[[nodiscard]] AttentionIndexed settle_model(Request& request) {
  if (!request.noise && !request.noise_variance) {
    refuse_kind_without_noise(request.noise_kind);
    request.noise_variance = 0.0;
  }
  settle_noise(request.noise, request.noise_variance);
  AttentionIndexed model{.channel = &channel_named(request.channel),
                         .tokens = request.tokens,
                         .rho = request.rho,
                         .beta = request.beta,
                         .noise_variance = *request.noise_variance,
                         .noise_kind = request.noise_kind};
  if constexpr (requires { request.prior; }) {
    model.prior = request.prior;
    model.layers = request.layers;
    model.labels = request.labels;
    if constexpr (requires { request.skip; }) model.skip = request.skip;
    model.published.density = request.output == HardmaxOutput::density;
    model.published.off_scale = request.label_scale;
  }
  return checked_model(model);
}

}  // namespace onset::aim
