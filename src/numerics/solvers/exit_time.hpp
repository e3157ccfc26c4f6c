#pragma once

#include <vector>

namespace onset::numerics {

/// A diffusion dx = drift dt + sqrt(noise) dB on a line, at the nodes of an increasing grid.
struct LineDiffusion {
  std::vector<double> x;
  std::vector<double> drift;
  std::vector<double> noise;  ///< positive
};

/// The mean time after which the diffusion leaves the grid, from every node: the solution of
/// noise/2 u'' + drift u' = -1 that vanishes at both ends. Exponentially fitted differences: of
/// second order where steps are shorter than noise/drift, of first order beyond, and exact for
/// constant coefficients on a uniform grid. Linear in the number of nodes. Times that are beyond
/// double precision come back as infinity or NaN.
[[nodiscard]] std::vector<double> mean_exit_times(const LineDiffusion& diffusion);

}  // namespace onset::numerics
