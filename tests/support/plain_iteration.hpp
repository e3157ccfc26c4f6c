#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace onset::testing {

struct Iterated {
  std::vector<double> x;
  bool converged = false;
};

/// x <- map(x) until no number moves by more than the tolerance: what a limit must agree with.
inline Iterated iterate(const std::function<std::vector<double>(const std::vector<double>&)>& map,
                        std::vector<double> x, double tolerance, int max_iterations) {
  for (int i = 0; i < max_iterations; ++i) {
    const std::vector<double> next = map(x);
    double moved = 0.0;
    for (std::size_t k = 0; k < x.size(); ++k) moved = std::max(moved, std::abs(next[k] - x[k]));
    x = next;
    if (moved <= tolerance) return {x, true};
  }
  return {x, false};
}

}  // namespace onset::testing
