#include "ssi/limits/flow/overlap_nodes.hpp"

#include <cmath>
#include <numbers>

#include "numerics/quadrature/chebyshev.hpp"

namespace onset::ssi {
namespace {

struct NodeCounts {
  std::size_t segment;
  std::size_t diameter;  ///< an even number, so that no node is at the centre
  std::size_t angles;    ///< an even number
};
constexpr NodeCounts all_nodes{24, 16, 16};
constexpr NodeCounts fewer_nodes{20, 14, 14};

}  // namespace

double OverlapNodes::angle(std::size_t k) const {
  // Angles are half a step off the axes.
  return 2.0 * std::numbers::pi * (static_cast<double>(k) + 0.5) / static_cast<double>(angles_);
}

/// 1 at 0, 0 at the other multiples of the angular step.
double OverlapNodes::cardinal(double x) const {
  const auto n = static_cast<double>(angles_);
  const double tangent = std::tan(0.5 * x);
  if (std::abs(std::sin(0.5 * x)) < 1e-12) return 1.0;
  return std::sin(0.5 * n * x) / (n * tangent);
}

OverlapNodes::OverlapNodes(bool positional, Density density) : positional_(positional) {
  const NodeCounts& counts = density == Density::full ? all_nodes : fewer_nodes;
  angles_ = counts.angles;
  const std::size_t n = positional ? counts.diameter : counts.segment;
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
    for (std::size_t k = 0; k < angles_; ++k) {
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
  for (std::size_t k = 0; k < angles_; ++k) {
    const double same = cardinal(theta - angle(k));
    const double opposite = cardinal(theta + std::numbers::pi - angle(k));
    for (std::size_t i = 0; i < half; ++i) {
      w[i * angles_ + k] = radial[half + i] * same + radial[half - 1 - i] * opposite;
    }
  }
  return w;
}

}  // namespace onset::ssi
