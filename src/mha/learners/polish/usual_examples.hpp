#pragma once

#include "mha/learners/polish/separable_fit.hpp"

namespace onset::mha {

/// A sample without the examples whose labels the layer misses by more than `times` what it misses
/// of the median one, and by more than rounding. No more than one in twenty is left out, those that
/// are missed most.
[[nodiscard]] Subset usual_examples(const Subset& sample, const Layer& layer, double times,
                                    const Context& context);

/// Fits as fit_layer does. Where that leaves more than the relative residual `explained`, and a few
/// examples are missed far more than the others, it fits again without them: the answer is the
/// layer that gives the other labels to `explained`, or the fit to the whole sample where there is
/// no such layer.
[[nodiscard]] FitOutcome fit_usual(const Subset& sample, const std::vector<Vector>& start,
                                   const FitOptions& options, double explained,
                                   const Context& context);

}  // namespace onset::mha
