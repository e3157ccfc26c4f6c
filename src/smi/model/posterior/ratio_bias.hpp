#pragma once

namespace onset::smi {

/// The leading-order bias of a ratio N / Z of weighted sums over random nodes, estimated from how
/// its first batch of nodes differs from the second [smi 27]: `share` = Z_1 / Z, `part` = N_1 / Z,
/// `ratio` = N / Z.
[[nodiscard]] inline double ratio_bias(double share, double part, double ratio) {
  return (2.0 - 4.0 * share) * (part - share * ratio);
}

}  // namespace onset::smi
