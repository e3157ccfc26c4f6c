#pragma once

#include <optional>
#include <string>

#include "mha/learners/subset.hpp"
#include "onset/core/context.hpp"

namespace onset::mha {

/// Why the phases do not see the heads, for the reason of a refusal and nothing else: projections
/// that cancel show where tokens come together; otherwise plain least squares from a few random
/// starts looks for a layer with more and more heads, and where it finds one, that layer's
/// projections and its number of heads tell the cause.
[[nodiscard]] std::string hidden_cause(const Subset& train, const Subset& held,
                                       const Context& context);

/// The held-out residual of least squares with one more head than the layer has, if it is at most
/// what a right layer would leave.
[[nodiscard]] std::optional<double> one_more_head(const Subset& train, const Subset& held,
                                                  const Layer& layer, double residual_of_right,
                                                  const Context& context);

/// What is wrong with a layer whose projections nearly cancel; nothing when they do not.
[[nodiscard]] std::optional<std::string> cancelling_reason(const Layer& layer);

}  // namespace onset::mha
