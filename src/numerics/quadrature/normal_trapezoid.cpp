#include <cmath>

#include "onset/core/error.hpp"
#include "onset/numerics/quadrature.hpp"

namespace onset::numerics {

Rule normal_trapezoid(double step, double half_width) {
  constexpr double max_nodes = 1e6;
  if (!(step > 0.0) || !(half_width >= step) || half_width / step > max_nodes) {
    throw InvalidArgument("step", "needs 0 < step <= half_width, and at most 2e6 nodes");
  }
  const auto half = static_cast<int>(std::floor(half_width / step));
  Rule rule;
  double total = 0.0;
  for (int k = -half; k < half; ++k) {
    const double x = (k + 0.5) * step;
    rule.nodes.push_back(x);
    rule.weights.push_back(std::exp(-0.5 * x * x));
    total += rule.weights.back();
  }
  for (double& w : rule.weights) w /= total;
  return rule;
}

}  // namespace onset::numerics
