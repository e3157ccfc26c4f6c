#pragma once

#include <vector>

#include "onset/core/parameters.hpp"
#include "onset/ssi/model/model.hpp"

namespace onset::ssi {

/// --a and --omega of the positional-semantic model, one number each.
[[nodiscard]] std::vector<Parameter> mixture_parameters();
/// The model behind --target, or --a and --omega; with --loss.
[[nodiscard]] SequenceModel read_model_or_mixture(const Parameters& parameters);

}  // namespace onset::ssi
