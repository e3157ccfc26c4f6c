#pragma once

#include <vector>

namespace onset::numerics {

/// Nodes and weights of a one-dimensional rule.
struct Rule {
  std::vector<double> nodes;
  std::vector<double> weights;
};

/// Gauss-Hermite rule for the standard normal weight: sum_i w_i f(x_i) ~ E f(Z), Z ~ N(0,1). It is
/// exact for polynomials of degree 2n-1; 1 <= nodes <= 1024.
[[nodiscard]] Rule gauss_hermite(int nodes);

/// The uniform rule for the standard normal weight: nodes (k + 1/2) step within +-half_width,
/// weights scaled to sum to 1. It is spectrally accurate for functions without poles near the real
/// axis, and of second order for a kink or jump at 0, where it has no node.
[[nodiscard]] Rule normal_trapezoid(double step, double half_width);

}  // namespace onset::numerics
