#pragma once

#include <string>
#include <vector>

#include "onset/aim/model/attention_indexed.hpp"
#include "onset/core/make_parameter.hpp"
#include "onset/core/parameters.hpp"

namespace onset::aim {

inline constexpr const char* alpha_meaning =
    "sample ratio alpha = n/d^2 (samples over dimension squared); n/(d r) with --rho 0";

/// The grid of sample ratios.
[[nodiscard]] Parameter alpha_parameter();

/// Channel, tokens, rho, beta, noise: what data and learners need.
[[nodiscard]] std::vector<Parameter> model_parameters();
/// What only the limits have besides: priors, layers, published variants.
[[nodiscard]] std::vector<Parameter> limit_parameters();

/// The model that these describe, checked; names of options in messages. Throws InvalidArgument,
/// and Refused for layers whose state evolution does not close.
[[nodiscard]] AttentionIndexed read_model(const Parameters& parameters);

}  // namespace onset::aim
