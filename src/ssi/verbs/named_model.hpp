#pragma once

#include <optional>
#include <string>

#include "onset/ssi/model/model.hpp"

/// Models as options describe them. Mistakes are InvalidArgument naming the option; one in an
/// expression is shown at its place.
namespace onset::ssi {

inline constexpr double max_tokens = 64;
inline constexpr double max_strength = 5;  ///< of --a
/// The largest component of an encoding: fields are of order one.
inline constexpr double max_encoding = 10;

/// A target and a student by their texts.
struct ModelTexts {
  std::optional<std::string> target = {};
  std::string student = "attention";
  StudentOptions options = {};  ///< the number of outputs is taken from the target
  bool positional = false;
  std::optional<std::string> encodings = {};  ///< instead of +P, -P, ..
  SampleLoss loss = SampleLoss::half_squared;
};
[[nodiscard]] SequenceModel named_model(const ModelTexts& texts);

/// The encodings of an NPY file as one would type them, in as few directions as possible; typed
/// ones as they are. Throws IoError for a file that has none.
[[nodiscard]] std::string typed_encodings(const std::string& text);

/// The positional-semantic model of two tokens: target (1 - omega) softmax + omega A(a), attention
/// student without reduction, opposite positional encodings.
[[nodiscard]] SequenceModel mixture_model(double a, double omega, SampleLoss loss);

}  // namespace onset::ssi
