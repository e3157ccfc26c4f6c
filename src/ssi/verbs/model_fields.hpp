#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/field_names.hpp"
#include "core/fields.hpp"
#include "core/prose.hpp"
#include "onset/core/error.hpp"
#include "ssi/verbs/named_model.hpp"

/// What requests of the family have in common: the fields that describe the model.
namespace onset::ssi {

inline constexpr const char* strength_text =
    "Strength a of the positional part of the target; with `omega`.";

template <class Request>
[[nodiscard]] Fields<Request> model_fields() {
  Fields<Request> fields;
  fields
      .add("target", &Request::target, {}, prose(R"(
          Target g(z1, .., zL): an expression such as 'He2(z1)+He2(z2)' or 'sum(h2(z))', or
          softmax, H2sum, He4sum, ...)"))
      .add("tokens", &Request::tokens, {.min = 1, .max = max_tokens}, "Tokens L of a sample.")
      .add("student", &Request::student, {},
           "Student: " + student_names() + ", or an expression of z1, .., zL like the target.")
      .add_word("reduction", &Request::reduction,
                {Reduction::automatic, Reduction::none, Reduction::trace, Reduction::trace_sqrt,
                 Reduction::projection},
                prose(R"(
          Output of attention: the matrix, its trace, trace/sqrt(L), or left^T F right; auto:
          trace for one output, none for a matrix.)"))
      .add("left", &Request::left, {.min = -1e6, .max = 1e6}, prose(R"(
          Left vector of a projection, one number per token; scaled to length 1; the first token
          unless given.)"))
      .add("right", &Request::right, {.min = -1e6, .max = 1e6},
           "Right vector of a projection, likewise.")
      .add("activation", &Request::activation, {}, prose(R"(
          Activation of tied and untied students: a function's name, or an expression of u =
          L^(-1/2) sum_i z_i; relu unless given.)"))
      .add("positional", &Request::positional, {}, prose(R"(
          Tokens carry the positional encodings +P, -P, +P, .. with |P| = 1, orthogonal to the
          teacher; the student's overlap with P is e.)"))
      .add("encodings", &Request::encodings, {}, prose(R"(
          Positional encodings of one's own instead, one for each token, separated by semicolons:
          '0.5,1; 0,-2' has components 0.5 and 0 along the teacher, then 1 and -2 along a direction
          across it (more numbers: more directions); or an array FILE.npy with such a row for each
          token. For attention students; each number is from -10 to 10.)"));
  fields.edit("reduction").aliases = {{"trace/sqrt(L)", "trace-sqrt"}};
  return fields;
}

template <class Request>
void add_loss_field(Fields<Request>& fields) {
  fields.add_word("loss", &Request::loss,
                  {SampleLoss::half_squared, SampleLoss::squared, SampleLoss::frobenius},
                  "Loss of a sample: |y-f|^2/2, |y-f|^2, or the unsquared norm |y-f|.");
}

/// --a and --omega of the positional-semantic model, one number each, and --loss.
template <class Request>
void add_mixture_fields(Fields<Request>& fields) {
  fields.add("a", &Request::a, {.min = 0.0, .max = max_strength}, strength_text)
      .add("omega", &Request::omega, {.min = 0.0, .max = 1.0},
           "Weight omega of the positional part; with `a`.");
  add_loss_field(fields);
}

/// The model behind --target and --student. Encodings of a file are put into the request, so that
/// results are filed under the numbers and not under a name.
template <class Request>
[[nodiscard]] SequenceModel settle_target(Request& request) {
  if (request.encodings) request.encodings = typed_encodings(*request.encodings);
  ModelTexts texts;
  texts.target = request.target;
  texts.student = request.student;
  texts.options = {.tokens = static_cast<std::size_t>(request.tokens),
                   .reduction = request.reduction,
                   .left = request.left,
                   .right = request.right,
                   .activation = request.activation};
  texts.positional = request.positional;
  texts.encodings = request.encodings;
  if constexpr (requires { request.loss; }) texts.loss = request.loss;
  return named_model(texts);
}

[[nodiscard]] inline bool is_given(const std::optional<double>& x) {
  return x.has_value();
}
[[nodiscard]] inline bool is_given(const std::vector<double>& x) {
  return !x.empty();
}

/// Whether the model is described by --a and --omega. Throws when --target is there too, when only
/// one of the two is given, or nothing at all, and when anything else describes a model.
template <class Request>
[[nodiscard]] bool is_mixture(const Request& request) {
  const bool mixture = request.a || is_given(request.omega);
  if (mixture == request.target.has_value()) {
    throw InvalidArgument("target",
                          mixture ? "cannot be given together with `a` and `omega`" : prose(R"(
          is missing; allowed: `target = EXPR`, or `a = A` and `omega = W` for the
          positional-semantic model)"));
  }
  if (!mixture) return false;
  if (!request.a) throw InvalidArgument("a", "is missing; allowed: a number, with `omega`");
  if (!is_given(request.omega)) {
    throw InvalidArgument("omega", "is missing; allowed: a number in [0, 1]");
  }
  const Parameters given = model_fields<Request>().write(request);
  const Parameters usual = model_fields<Request>().write({});
  for (const auto& [name, value] : given.values()) {
    if (value == usual.values().at(name)) continue;
    throw InvalidArgument(field_name(name), prose(R"(
          has no meaning with `a` and `omega`, which fix the whole model; allowed: leaving it
          out)"));
  }
  return true;
}

/// The model behind --target, or --a and --omega.
template <class Request>
[[nodiscard]] SequenceModel settle_model(Request& request) {
  if (is_mixture(request)) return mixture_model(*request.a, *request.omega, request.loss);
  return settle_target(request);
}

}  // namespace onset::ssi
