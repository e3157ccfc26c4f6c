#pragma once

#include "mha/learners/subset.hpp"
#include "onset/core/context.hpp"

namespace onset::mha {

/// Phase 1: a crude sum of projections W = sum_i w_i, by least squares of the mean label on the
/// mean token over the examples with most constant columns [mha 9]. Where all tokens of an example
/// agree in a coordinate, attention cannot change it, so these examples have the least bias. Of
/// real inputs those are taken whose tokens lie nearest to one another [mha 27].
[[nodiscard]] Matrix crude_projection(const Subset& sample, const Context& context);

}  // namespace onset::mha
