#include "onset/numerics/fixed_point.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

/// The least relative fall of the residual over a stagnation window that counts as progress.
constexpr double least_progress = 0.01;

double largest_difference(const Vector& a, const Vector& b) {
  double worst = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    if (std::isnan(d)) return d;  // no later component may hide it
    worst = std::max(worst, d);
  }
  return worst;
}

}  // namespace

void FixedPointOptions::validate() const {
  if (!(tolerance > 0.0)) throw InvalidArgument("tolerance", "allowed: a number above 0");
  if (max_iterations < 1) throw InvalidArgument("max_iterations", "allowed: 1 or more");
  if (!(damping >= 0.0 && damping < 1.0)) throw InvalidArgument("damping", "allowed: [0, 1)");
  if (stagnation_window < 2) throw InvalidArgument("stagnation_window", "allowed: 2 or more");
}

FixedPoint fixed_point(const VectorMap& map, Vector start, const FixedPointOptions& options,
                       const Context& context) {
  options.validate();
  FixedPoint result{std::move(start), {}};
  double window_residual = HUGE_VAL;
  for (int iteration = 1; iteration <= options.max_iterations; ++iteration) {
    context.check();
    const Vector next = map(result.x);
    const double residual = largest_difference(next, result.x);
    result.status.iterations = iteration;
    result.status.residual = residual;
    if (!std::isfinite(residual)) {
      result.status.reason = StopReason::diverged;
      return result;
    }
    for (std::size_t i = 0; i < next.size(); ++i) {
      result.x[i] = (1.0 - options.damping) * next[i] + options.damping * result.x[i];
    }
    if (residual <= options.tolerance) {
      result.status.reason = StopReason::converged;
      return result;
    }
    if (iteration % options.stagnation_window == 0) {
      if (residual > (1.0 - least_progress) * window_residual) {
        result.status.reason = StopReason::stagnated;
        return result;
      }
      window_residual = residual;
    }
  }
  return result;
}

double contraction(const VectorMap& map, const Vector& x, double step) {
  const auto n = static_cast<Eigen::Index>(x.size());
  Eigen::MatrixXd jacobian(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    const auto k = static_cast<std::size_t>(j);
    const double h = step * std::max(std::abs(x[k]), step);
    Vector up = x;
    Vector down = x;
    up[k] += h;
    down[k] -= h;
    const Vector f_up = map(up);
    const Vector f_down = map(down);
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto row = static_cast<std::size_t>(i);
      jacobian(i, j) = (f_up[row] - f_down[row]) / (up[k] - down[k]);
    }
  }
  return jacobian.eigenvalues().cwiseAbs().maxCoeff();
}

}  // namespace onset::numerics
