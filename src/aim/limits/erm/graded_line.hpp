#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace onset::aim {

/// A place of a standard normal and its share.
struct GradedNode {
  double x;
  double weight;
};

/// Nodes of a standard normal for what turns at one place like tanh(steepness x): a trapezoid rule
/// in t, x = centre + sinh(t)/steepness, is as fine as that there, and as coarse as the normal
/// allows elsewhere [aim 108]. Symmetric around a centre of 0; ends at `reach` deviations.
template <class Use>
void for_graded(double turn, double steepness, double step, double reach, const Use& use) {
  const double centre = std::clamp(turn, -reach, reach);
  const auto index = [&](double x) { return std::asinh((x - centre) * steepness) / step; };
  const auto last = static_cast<int>(std::floor(index(reach)));
  for (auto i = static_cast<int>(std::ceil(index(-reach))); i <= last; ++i) {
    const double x = centre + std::sinh(i * step) / steepness;
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
    use(x, density * step * std::cosh(i * step) / steepness);
  }
}

/// The same as a list.
inline std::vector<GradedNode> graded_line(double turn, double steepness, double step,
                                           double reach) {
  std::vector<GradedNode> nodes;
  for_graded(turn, steepness, step, reach, [&](double x, double weight) {
    nodes.push_back({x, weight});
  });
  return nodes;
}

}  // namespace onset::aim
