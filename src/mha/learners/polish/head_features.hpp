#pragma once

#include <vector>

#include "mha/learners/subset.hpp"
#include "onset/core/context.hpp"

namespace onset::mha {

/// The attention of one head: row (example, query) of `attention` has the weights of the keys, row
/// of `mixed` is attention times tokens, Z in [mha 17].
struct HeadFeatures {
  Matrix attention;  ///< rows x tokens
  Matrix mixed;      ///< rows x dim
};

/// The features of theta (dim^2 numbers) on all rows of a small sample.
[[nodiscard]] HeadFeatures head_features(const Subset& sample, const Vector& theta);

/// A layer from its parts.
[[nodiscard]] Layer to_layer(const std::vector<Vector>& theta, const Matrix& stacked_w);
[[nodiscard]] std::vector<Vector> thetas_of(const Layer& layer);

/// Least squares of the labels on the features of all heads over the whole sample, by QR: the w of
/// given theta, phase 6 [mha 20].
[[nodiscard]] Layer fit_projections(const Subset& sample, const std::vector<Vector>& thetas);

/// Root mean square of the labels that the layer leaves over the size of the labels.
[[nodiscard]] double relative_residual(const Subset& sample, const Layer& layer,
                                       const Context& context);

}  // namespace onset::mha
