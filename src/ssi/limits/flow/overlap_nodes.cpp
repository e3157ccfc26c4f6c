#include "ssi/limits/flow/overlap_nodes.hpp"

#include <cmath>
#include <numbers>

#include "numerics/quadrature/chebyshev.hpp"

namespace onset::ssi {
namespace {

constexpr std::size_t segment_nodes = 24;
constexpr std::size_t diameter_nodes = 16;  ///< an even number, so that no node is at the centre
constexpr std::size_t angles = 16;          ///< an even number

double angle(std::size_t k) {
  // Angles are half a step off the axes.
  return 2.0 * std::numbers::pi * (static_cast<double>(k) + 0.5) / static_cast<double>(angles);
}

/// 1 at 0, 0 at the other multiples of the angular step.
double cardinal(double x) {
  constexpr auto n = static_cast<double>(angles);
  const double tangent = std::tan(0.5 * x);
  if (std::abs(std::sin(0.5 * x)) < 1e-12) return 1.0;
  return std::sin(0.5 * n * x) / (n * tangent);
}

}  // namespace

OverlapNodes::OverlapNodes(bool positional) : positional_(positional) {
  const std::size_t n = positional ? diameter_nodes : segment_nodes;
  radii_ = numerics::chebyshev_points(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double theta = std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    barycentric_.push_back((i % 2 == 0 ? 1.0 : -1.0) * std::sin(theta));
  }
  if (!positional) {
    for (const double m : radii_) nodes_.push_back({0.0, m});
    return;
  }
  for (std::size_t i = n / 2; i < n; ++i) {
    for (std::size_t k = 0; k < angles; ++k) {
      nodes_.push_back({radii_[i] * std::cos(angle(k)), radii_[i] * std::sin(angle(k))});
    }
  }
}

std::vector<double> OverlapNodes::radial_weights(double r) const {
  std::vector<double> w(radii_.size(), 0.0);
  double sum = 0.0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double distance = r - radii_[i];
    if (distance == 0.0) {
      w.assign(w.size(), 0.0);
      w[i] = 1.0;
      return w;
    }
    w[i] = barycentric_[i] / distance;
    sum += w[i];
  }
  for (double& x : w) x /= sum;
  return w;
}

std::vector<double> OverlapNodes::weights(double e, double m) const {
  if (!positional_) return radial_weights(m);
  const auto radial = radial_weights(std::hypot(e, m));
  const double theta = std::atan2(m, e);
  const std::size_t half = radii_.size() / 2;
  std::vector<double> w(nodes_.size());
  for (std::size_t k = 0; k < angles; ++k) {
    const double same = cardinal(theta - angle(k));
    const double opposite = cardinal(theta + std::numbers::pi - angle(k));
    for (std::size_t i = 0; i < half; ++i) {
      w[i * angles + k] = radial[half + i] * same + radial[half - 1 - i] * opposite;
    }
  }
  return w;
}

}  // namespace onset::ssi
