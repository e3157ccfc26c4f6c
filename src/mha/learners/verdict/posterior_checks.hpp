#pragma once

#include <vector>

#include "mha/learners/sculpt/slabs.hpp"
#include "mha/learners/six_phases.hpp"

namespace onset::mha {

/// The smallest singular value of the differences of one example's tokens times every w_i, one
/// below another [mha 8]; 0 if there are more rows than columns.
[[nodiscard]] double agreement_constant(const Matrix& x, const Layer& layer);

[[nodiscard]] Matrix sum_of_projections(const Layer& layer);

/// The slabs in a form that outlives the sample.
[[nodiscard]] std::vector<CertifiedSlab> certified_slabs(const Subset& sample,
                                                         const std::vector<Slab>& slabs);

/// Checks posterior slabs: with the found w_i the constant sigma of [mha 8] is known, so slabs that
/// were sculpted with their sum are rigorous constraints on every head [mha 22]. Fills slabs,
/// slabs_proved and slabs_violated.
void check_posterior_slabs(const Subset& sample, const std::vector<Slab>& slabs, const Layer& layer,
                           Evidence& evidence);

/// The smallest singular value of the lifted slabs off the span of the heads, over the largest; it
/// is zero where the slabs leave more free than the heads. It needs more than dim^2 slabs.
[[nodiscard]] double off_the_heads(const Body& body, const Layer& layer);

/// Checks local uniqueness by the rank and smallest singular value of the projected Jacobian, and
/// by the smallest singular value of [Z_1 .. Z_m] [mha 23], both with unit columns.
void check_uniqueness(const Subset& sample, const Layer& layer, const Context& context,
                      Evidence& evidence);

}  // namespace onset::mha
