#include "aim/limits/flow/teacher_law.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace onset::aim {
namespace {

/// lambda sqrt(rho) at the angle theta.
double reduced_eigenvalue(double rho, double theta) {
  return 1.0 + rho + 2.0 * std::sqrt(rho) * std::cos(theta);
}

/// Density of the law in the angle.
double angle_density(double rho, double theta) {
  const double sine = std::sin(theta);
  return 2.0 * rho / std::numbers::pi * sine * sine / reduced_eigenvalue(rho, theta);
}

}  // namespace

TeacherLaw teacher_law(double rho, std::size_t nodes) {
  TeacherLaw law;
  const double step = std::numbers::pi / static_cast<double>(nodes);
  for (std::size_t j = 0; j < nodes; ++j) {
    const double theta = (static_cast<double>(j) + 0.5) * step;
    law.eigenvalues.push_back(reduced_eigenvalue(rho, theta) / std::sqrt(rho));
    law.weights.push_back(step * angle_density(rho, theta));
  }
  law.eigenvalues.push_back(0.0);
  law.weights.push_back(1.0 - std::accumulate(law.weights.begin(), law.weights.end(), 0.0));
  return law;
}

double min_teacher_eigenvalue(double rho) {
  const double root = 1.0 - std::sqrt(rho);
  return root * root / std::sqrt(rho);
}

double max_teacher_eigenvalue(double rho) {
  const double root = 1.0 + std::sqrt(rho);
  return root * root / std::sqrt(rho);
}

std::vector<double> teacher_quantiles(double rho, std::size_t size) {
  // Cumulated midpoints from theta = pi, the smallest eigenvalue, downwards.
  constexpr std::size_t cells = 20000;
  const double step = std::numbers::pi / cells;
  std::vector<double> below{std::max(0.0, 1.0 - rho)};
  for (std::size_t j = 0; j < cells; ++j) {
    const double theta = std::numbers::pi - (static_cast<double>(j) + 0.5) * step;
    below.push_back(below.back() + step * angle_density(rho, theta));
  }
  std::vector<double> out;
  for (std::size_t i = 0; i < size; ++i) {
    const double level = (static_cast<double>(i) + 0.5) / static_cast<double>(size);
    if (level <= below.front()) {
      out.push_back(0.0);
      continue;
    }
    const auto above = std::upper_bound(below.begin() + 1, below.end() - 1, level);
    const double mass = *above - *(above - 1);
    const double share = mass > 0.0 ? (level - *(above - 1)) / mass : 0.0;
    const auto cell = static_cast<double>(above - below.begin() - 1);
    const double theta = std::max(0.0, std::numbers::pi - (cell + share) * step);
    out.push_back(reduced_eigenvalue(rho, theta) / std::sqrt(rho));
  }
  return out;
}

}  // namespace onset::aim
