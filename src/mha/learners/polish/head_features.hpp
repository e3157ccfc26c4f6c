#pragma once

#include <vector>

#include "mha/learners/subset.hpp"
#include "onset/core/context.hpp"

namespace onset::mha {

/// The attention of one head: row (example, query) of `attention` has the weights of the keys, and
/// that row of `mixed` is attention times tokens, Z in [mha 17].
struct HeadFeatures {
  Matrix attention;  ///< rows x tokens
  Matrix mixed;      ///< rows x dim
};

/// The features of theta (dim^2 numbers) on all rows of a small sample.
[[nodiscard]] HeadFeatures head_features(const Subset& sample, const Vector& theta);

/// Makes a layer from its parts.
[[nodiscard]] Layer to_layer(const std::vector<Vector>& theta, const Matrix& stacked_w);
[[nodiscard]] std::vector<Vector> thetas_of(const Layer& layer);

/// Phase 6: the w of given theta, by least squares (QR) of the labels on the features of all heads
/// over the whole sample [mha 20].
[[nodiscard]] Layer fit_projections(const Subset& sample, const std::vector<Vector>& thetas);

/// The root mean square of what the layer leaves of the labels, over the size of the labels.
[[nodiscard]] double relative_residual(const Subset& sample, const Layer& layer,
                                       const Context& context);

}  // namespace onset::mha
