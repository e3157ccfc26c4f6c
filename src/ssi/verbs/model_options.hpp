#pragma once

#include <string>
#include <vector>

#include "onset/core/make_parameter.hpp"
#include "onset/core/parameters.hpp"
#include "onset/core/verb.hpp"
#include "onset/ssi/model/model.hpp"

namespace onset::ssi {

[[nodiscard]] Parameter make_text(std::string name, Value fallback, std::string text);
[[nodiscard]] Parameter make_flag(std::string name, std::string text);

/// target, tokens, student, reduction, left, right, activation, positional.
[[nodiscard]] std::vector<Parameter> model_parameters();
/// half-squared, squared, frobenius.
[[nodiscard]] Parameter loss_parameter(Loss fallback);
[[nodiscard]] Loss read_loss(const Parameters& parameters);

/// A model with the words that tell which conventions were chosen.
struct NamedModel {
  SequenceModel model;
  std::string reduction;  ///< of an attention student; else empty
};
/// Throws InvalidArgument naming the option; a mistake in an expression is shown at its place.
[[nodiscard]] NamedModel read_model(const Parameters& parameters);
/// The positional-semantic model of two tokens: target (1 - omega) softmax + omega A(a), attention
/// student without reduction, opposite positional encodings.
[[nodiscard]] SequenceModel mixture_model(double a, double omega, Loss loss);

/// Whether the user described the model by --a and --omega; throws when --target is there too, or
/// when only one of the two is given, or nothing at all.
[[nodiscard]] bool is_mixture(const Parameters& parameters);
/// Throws when something that describes a model by --target is given together with --a and --omega.
void refuse_with_mixture(const Parameters& parameters);

inline constexpr double max_tokens = 64;
inline constexpr double max_a = 5;

}  // namespace onset::ssi
