#include <cmath>
#include <cstdio>

#include "onset/catalog.hpp"
#include "onset/numerics/quadrature.hpp"

int main() {
  const auto rule = onset::numerics::gauss_hermite(8);
  double second_moment = 0.0;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    second_moment += rule.weights[i] * rule.nodes[i] * rule.nodes[i];
  }
  std::printf("E Z^2 = %.15g, %zu verbs\n", second_moment, onset::catalog().size());
  return std::fabs(second_moment - 1.0) < 1e-13 && !onset::catalog().empty() ? 0 : 1;
}
