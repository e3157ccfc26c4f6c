#pragma once

#include <optional>

#include "mha/model/layer.hpp"

namespace onset::mha {

/// The layer in canonical form: heads whose w is at most `tolerance` times the largest are
/// dropped, heads whose theta agree to `tolerance` times the largest theta are merged (their w
/// add), and the rest is sorted by the norm of w, largest first [mha 5]. The function stays the
/// same up to what was dropped.
[[nodiscard]] Layer canonical(const Layer& layer, double tolerance);

/// Whether theta of some head is 0: relative to it there is no error.
[[nodiscard]] bool has_zero_theta(const Layer& layer);

/// Relative errors of the parameters after the permutation of heads that makes the largest theta
/// error smallest [mha 6].
struct ParameterErrors {
  /// Max over heads of |theta - true| / |true|, Frobenius; nothing where a true theta is 0.
  std::optional<double> theta = 0.0;
  double w = 0.0;        ///< the same for w under that permutation
  double at_zero = 0.0;  ///< |theta| of the head that stands for one whose true theta is 0
};

/// Returns nothing when the numbers of heads or the dimensions differ.
[[nodiscard]] std::optional<ParameterErrors> parameter_errors(const Layer& found,
                                                              const Layer& truth);

}  // namespace onset::mha
