#pragma once

#include "core/field_names.hpp"
#include "core/fields.hpp"
#include "core/prose.hpp"
#include "onset/core/error.hpp"
#include "onset/smi.hpp"
#include "smi/model/links.hpp"
#include "smi/model/typed/typed_model.hpp"
#include "smi/verbs/named_model.hpp"
#include "smi/verbs/own_model.hpp"
#include "smi/verbs/typed_fields.hpp"

/// What all requests of the family have in common: the fields that describe the model.
namespace onset::smi {

/// The grid of sample ratios.
inline const FieldRule alpha_rule{
    .min = 0.0, .max = 1e6, .open_min = true, .required = true, .grid = true};
inline constexpr const char* alpha_text = "Sample ratios N/D (samples over dimension).";

inline constexpr const char* correlation_text =
    "Covariance of the tokens: none, R or equi:R (R between any two), ar1:R (R^|i-j|), or a file "
    "with the matrix.";

/// Those of attention alone.
template <class Request>
[[nodiscard]] Fields<Request> attention_fields() {
  Fields<Request> fields;
  fields.add("layers", &Request::layers, {.min = 1, .max = supported_layers}, "Attention layers.")
      .add("tokens", &Request::tokens, {.min = 2, .max = max_tokens},
           "Tokens of a sample; up to 8 with more than one layer.")
      .add("skip", &Request::skip, {.min = 0.0, .max = max_skip}, prose(R"(
          Strength c of the skip connection after each layer: one for all, or one each (after
          the last there is none: its value has no effect and may be omitted).)"))
      .add("beta", &Request::beta, {.min = min_beta, .max = max_beta},
           "Inverse temperature of every softmax.");
  return fields;
}

template <class Request>
[[nodiscard]] Fields<Request> model_fields() {
  Fields<Request> fields = attention_fields<Request>();
  fields
      .add("rank", &Request::rank, {.min = 1, .max = max_rank}, prose(R"(
          Directions of each layer: one number for all, or one each; at most two in the last
          layer, or three with more than three tokens.)"))
      .add_word(
          "weights", &Request::weights, std::vector<Weights>{Weights::tied, Weights::untied},
          "Whether queries and keys have the same weights or, with one layer, their own; with "
          "more, only the first threshold is offered (smi thresholds, `stages = 1`).")
      .add("noise", &Request::noise, {.min = 0.0, .max = max_noise},
           "Standard deviation of Gaussian noise on the last layer's fields u.")
      .add("token-correlation", &Request::token_correlation, {}, correlation_text)
      .add("link", &Request::link, {.words = link_words()}, "A link by name, or an expression.");
  take_expressions(fields.edit("link"));
  fields.edit("tokens").text += " 2, or those that a typed link reads, unless given.";
  return fields;
}

/// The field `device` of verbs whose posteriors a device can compute.
template <class Request>
void add_device(Fields<Request>& fields) {
  using device::DeviceKind;
  fields.add_word("device", &Request::device,
                  {DeviceKind::cpu, DeviceKind::gpu, DeviceKind::automatic}, prose(R"(
      Where posteriors of two tokens are integrated: on the processor, on a GPU by a plug-in, or on the
      GPU where there is one. There sums are added in another order, and smi thresholds of five layers
      or more begins with more points and nodes.)"));
}

/// Tokens of a sample where nobody says anything, and no typed link reads more or fewer.
inline constexpr int usual_tokens = 2;

/// What the fields are where nobody says anything, the same for all requests.
[[nodiscard]] inline std::map<std::string, Value> usual_model() {
  return model_fields<Thresholds>().write({.tokens = usual_tokens}).values();
}

/// Fills the fields of the model that were not given, where a request tells these apart; all but
/// the number of tokens, on which a typed link has its say.
template <class Request>
void fill_model(Request& request) {
  const Fields<Request> fields = model_fields<Request>();
  for (const auto& [name, value] : usual_model()) {
    const bool given = !std::holds_alternative<std::monostate>(fields.get(name, request));
    if (!given && name != "tokens") fields.set(name, value, request);
  }
}

/// A link has no layers: what describes them must be left at its default.
template <class Request>
void refuse_with_link(const Request& request) {
  const Parameters given = model_fields<Request>().write(request);
  const auto usual = usual_model();
  for (const auto& [name, value] : given.values()) {
    const bool is_not_given = std::holds_alternative<std::monostate>(value);
    if (is_not_given || name == "link" || value == usual.at(name)) continue;
    throw InvalidArgument(field_name(name), prose(R"(
        describes deep attention and has no meaning with `link`; allowed: leaving it out, or
        attention of one layer as `layers = 1`)"));
  }
}

namespace detail {

/// The value of a field that may not be given but is filled by now.
template <class T>
[[nodiscard]] const T& filled(const T& x) {
  return x;
}
template <class T>
[[nodiscard]] const T& filled(const std::optional<T>& x) {
  return *x;
}

}  // namespace detail

/// A typed link, and the tokens of its samples.
struct TypedRequest {
  std::shared_ptr<const TypedLink> link;
  std::size_t tokens = 1;
};

namespace detail {

/// The link of a request as this expression; samples of a named link have the tokens that it reads.
template <class Request>
[[nodiscard]] TypedRequest typed_request(const Request& request, const std::string& expression) {
  const bool is_named = expression != filled(request.link);
  const auto link = std::make_shared<const TypedLink>(expression, filled(request.noise));
  // All others ask for posteriors.
  if constexpr (!std::is_same_v<Request, Generate>) link->refuse_dense_switches();
  const Parameters given = model_fields<Request>().write(request);
  const auto usual = usual_model();
  for (const auto& [name, value] : given.values()) {
    const bool is_not_given = std::holds_alternative<std::monostate>(value);
    const bool is_of_links = name == "link" || name == "noise" || (name == "tokens" && !is_named);
    if (is_not_given || is_of_links || value == usual.at(name)) continue;
    throw InvalidArgument(field_name(name), prose(R"(
        describes deep attention and has no meaning with `link`; allowed: leaving it out)"));
  }
  return {link, is_named ? link->tokens() : typed_tokens(*link, request.tokens)};
}

}  // namespace detail

/// The typed link of a request whose fields are filled, the number of tokens perhaps not; nothing
/// where it means another model. Throws InvalidArgument and Refused.
template <class Request>
[[nodiscard]] std::optional<TypedRequest> typed_request(const Request& request) {
  using detail::filled;
  const auto expression = typed_text(filled(request.link), filled(request.noise));
  if (!expression) return std::nullopt;
  return detail::typed_request(request, *expression);
}

/// The same with the expressions of named links; nothing for attention and links of several
/// outputs.
template <class Request>
[[nodiscard]] std::optional<TypedRequest> expressed_request(const Request& request) {
  const std::string expression = link_expression(detail::filled(request.link));
  if (expression.empty()) return std::nullopt;
  return detail::typed_request(request, expression);
}

/// The model of a request whose fields are filled. Fills the number of tokens where it is not, and
/// no typed link says it; reads the file of correlations, if one is named, into the request. Throws
/// InvalidArgument naming the option, and Refused.
template <class Request>
[[nodiscard]] NamedModel settle_model(Request& request) {
  using detail::filled;
  request.token_correlation = read_correlation(filled(request.token_correlation));
  if (std::unique_ptr<SequenceModel> own = OwnModel::current()) {
    refuse_with_link(request);
    return {std::move(own)};
  }
  if (const std::optional<TypedRequest> typed = typed_request(request)) {
    return {typed_model(typed->link, typed->tokens), typed->link};
  }
  request.tokens = request.tokens.value_or(usual_tokens);
  if (filled(request.link) != "none") {
    refuse_with_link(request);
    return named_link(filled(request.link));
  }
  if (filled(request.weights) == Weights::untied) {
    bool first_stage = false;
    if constexpr (requires { request.stages; }) first_stage = request.stages == 1;
    return named_untied({.layers = filled(request.layers),
                         .tokens = *request.tokens,
                         .skip = request.skip,
                         .beta = filled(request.beta),
                         .rank = request.rank,
                         .noise = filled(request.noise)},
                        filled(request.token_correlation), first_stage);
  }
  return named_attention({.layers = filled(request.layers),
                          .tokens = *request.tokens,
                          .skip = request.skip,
                          .beta = filled(request.beta),
                          .rank = request.rank,
                          .noise = filled(request.noise)},
                         filled(request.token_correlation));
}

}  // namespace onset::smi
