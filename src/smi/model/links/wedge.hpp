#pragma once

#include <array>

namespace onset::smi {

/// A standard normal point of the plane given that it lies in a wedge.
struct WedgeMoments {
  double log_mass;
  std::array<double, 2> mean;
  std::array<double, 3> second;  ///< 11, 21, 22
};

/// The wedge of points apex + r (cos angle, sin angle), r >= 0, first <= angle <= last; it opens by
/// less than pi. The relative accuracy is about 1e-12, in the tails too.
[[nodiscard]] WedgeMoments wedge_moments(const std::array<double, 2>& apex, double first,
                                         double last);

}  // namespace onset::smi
