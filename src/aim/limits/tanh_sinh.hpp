#pragma once

#include <cmath>
#include <numbers>
#include <vector>

namespace onset::aim {

/// A node of the double-exponential rule on [0, 2], which integrates functions with algebraic
/// singularities at the ends. Nodes are given by their distance from the nearer end.
struct TanhSinhNode {
  bool from_low = true;
  double distance = 0.0;
  double fine_weight = 0.0;
  double coarse_weight = 0.0;  ///< its weight in the rule with twice the step, or 0
};

/// Nodes from left to right with step 1/32, and the rule with step 1/16 among them.
inline const std::vector<TanhSinhNode>& tanh_sinh() {
  static const std::vector<TanhSinhNode> rule = [] {
    constexpr double step = 1.0 / 32.0;
    constexpr int reach = 118;  // the last nodes are 3e-28 away from the ends
    std::vector<TanhSinhNode> nodes;
    for (int i = -reach; i <= reach; ++i) {
      const double y = 0.5 * std::numbers::pi * std::sinh(step * std::abs(i));
      const double weight =
          step * 0.5 * std::numbers::pi * std::cosh(step * i) / std::pow(std::cosh(y), 2);
      const double distance = std::exp(-y) / std::cosh(y);
      nodes.push_back({i <= 0, distance, weight, i % 2 == 0 ? 2.0 * weight : 0.0});
    }
    return nodes;
  }();
  return rule;
}

}  // namespace onset::aim
