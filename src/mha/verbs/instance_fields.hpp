#pragma once

#include "core/fields.hpp"
#include "core/prose.hpp"
#include "mha/model/instance.hpp"

/// The fields with which requests describe the layer that they draw.
namespace onset::mha {

template <class Request>
[[nodiscard]] Fields<Request> instance_fields() {
  Fields<Request> fields;
  fields.add("heads", &Request::heads, {.min = 1, .max = max_heads}, "Attention heads m.")
      .add("dim", &Request::dim, {.min = 2, .max = max_dim}, "Dimension d of a token.")
      .add("tokens", &Request::tokens, {.min = 1, .max = 32}, "Tokens k of an example.")
      .add("scale", &Request::scale, {.min = 0.0, .max = 1000.0},
           "Frobenius norm s of a typical theta: the standard deviation of a logit.")
      .add("samples", &Request::samples, {.min = 1, .max = 1e8}, "Number N of examples.")
      .add("coherence", &Request::coherence, {.min = 0.0, .max = 1e3},
           "Coherent heads theta_i = G + sep G_i with this sep; 0: independent heads.")
      .add("noise", &Request::noise, {.min = 0.0, .max = 1e6},
           "Standard deviation of label noise, per coordinate.")
      .add_word("inputs", &Request::inputs, {Inputs::boolean, Inputs::gaussian},
                "Entries of the tokens: 1 and -1, or standard normal.")
      .add("degree", &Request::degree, {.min = 0.0, .max = 1.0}, prose(R"(
          How far `degenerate = cancelling or proportional` goes, from 0 (not at all) to 1 (all
          the way); all the way unless given.)"))
      .add_word(
          "degenerate", &Request::degenerate,
          {Degeneracy::none, Degeneracy::cancelling, Degeneracy::proportional, Degeneracy::parity},
          prose(R"(
          A layer that hides its heads: projections that cancel, that are proportional, or a
          parity.)"));
  return fields;
}

/// Checks a law whose degree was perhaps given. Throws InvalidArgument naming the option.
[[nodiscard]] InstanceLaw checked_law(InstanceLaw law, const std::optional<double>& degree);

/// The law that a request describes; fills the degree where it has an effect. Throws
/// InvalidArgument naming the option.
template <class Request>
[[nodiscard]] InstanceLaw settle_instance(Request& request) {
  InstanceLaw law;
  law.heads = request.heads;
  law.dim = request.dim;
  law.tokens = request.tokens;
  law.scale = request.scale;
  law.coherence = request.coherence;
  law.noise = request.noise;
  law.degeneracy = request.degenerate;
  law.inputs = request.inputs;
  law = checked_law(law, request.degree);
  if (is_pulled(law.degeneracy)) request.degree = law.degree;
  return law;
}

}  // namespace onset::mha
