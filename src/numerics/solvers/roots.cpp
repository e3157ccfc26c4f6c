#include "numerics/solvers/roots.hpp"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <string>

#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

void require_sign_change(double low, double high, double f_low, double f_high) {
  // We compare signs, since the product of two tiny values underflows to 0.
  const bool rises = f_low <= 0.0 && f_high >= 0.0;
  const bool falls = f_low >= 0.0 && f_high <= 0.0;
  if (!rises && !falls) {
    throw InvalidArgument("bracket", "the function has the same sign at " + std::to_string(low) +
                                         " and " + std::to_string(high));
  }
}

/// A point evaluated on the way to a replicated root.
struct Evaluation {
  double x = 0.0;
  std::vector<Replicates> rows;
  double residual = 0.0;
};

Evaluation evaluate(const ReplicatedFunction& f, double x) {
  Evaluation e{x, f(x), 0.0};
  e.residual = mean(e.rows.at(0));
  return e;
}

/// The secant's zero, kept away from the ends of the bracket so that it always shrinks.
double next_point(const Evaluation& a, const Evaluation& b, double low, double high) {
  const double secant = b.x - b.residual * (b.x - a.x) / (b.residual - a.residual);
  const double margin = 0.02 * (high - low);
  const bool inside = std::isfinite(secant) && secant > low && secant < high;
  return inside ? std::clamp(secant, low + margin, high - margin) : 0.5 * (low + high);
}

/// The largest factor between the slope of a replicate and the mean slope. Beyond it the difference
/// of two near points is noise, and a slope of almost 0 would throw the replicate's root anywhere.
constexpr double max_slope_ratio = 2.0;

double trusted_slope(double own, double mean) {
  return mean * std::clamp(own / mean, 1.0 / max_slope_ratio, max_slope_ratio);
}

}  // namespace

void RootOptions::validate() const {
  if (!(tolerance > 0.0)) throw InvalidArgument("tolerance", "allowed: a number above 0");
  if (max_evaluations < 3) throw InvalidArgument("max_evaluations", "allowed: 3 or more");
}

Root bracketed_root(const std::function<double(double)>& f, double low, double high,
                    const RootOptions& options) {
  options.validate();
  const double f_low = f(low);
  const double f_high = f(high);
  require_sign_change(low, high, f_low, f_high);
  if (f_low == 0.0) return {low, {StopReason::converged, 2, 0.0}};
  if (f_high == 0.0) return {high, {StopReason::converged, 2, 0.0}};
  const auto narrow = [&](double a, double b) {
    return std::abs(b - a) <= options.tolerance * std::max(1.0, std::abs(a));
  };
  auto evaluations = static_cast<std::uintmax_t>(options.max_evaluations - 2);
  const auto [a, b] =
      boost::math::tools::toms748_solve(f, low, high, f_low, f_high, narrow, evaluations);
  Root root{0.5 * (a + b), {}};
  root.status.iterations = static_cast<int>(evaluations) + 2;
  root.status.residual = std::abs(b - a);
  root.status.reason = narrow(a, b) ? StopReason::converged : StopReason::unfinished;
  return root;
}

ReplicatedRoot replicated_root(const ReplicatedFunction& f, double low, double high,
                               const RootOptions& options) {
  options.validate();
  Evaluation a = evaluate(f, low);
  Evaluation b = evaluate(f, high);
  require_sign_change(low, high, a.residual, b.residual);
  double left = low;
  double right = high;
  const double sign_left = a.residual;

  ReplicatedRoot result;
  result.status.iterations = 2;
  while (result.status.iterations < options.max_evaluations) {
    const double x = next_point(a, b, left, right);
    // The secant goes through the nearest two points: keep the one with the smaller residual.
    if (std::abs(a.residual) < std::abs(b.residual)) std::swap(a, b);
    a = std::move(b);
    b = evaluate(f, x);
    ++result.status.iterations;
    (b.residual * sign_left > 0.0 ? left : right) = x;
    result.slope = (b.residual - a.residual) / (b.x - a.x);
    const double distance = std::abs(b.residual / result.slope);
    result.status.residual = b.residual;
    if (distance <= options.tolerance * std::max(1.0, std::abs(x))) {
      result.status.reason = StopReason::converged;
      break;
    }
  }

  const std::size_t replicates = b.rows[0].size();
  result.rows.assign(b.rows.size() - 1, Replicates(replicates));
  for (std::size_t row = 1; row < b.rows.size(); ++row) {
    result.row_slope.push_back((mean(b.rows[row]) - mean(a.rows[row])) / (b.x - a.x));
  }
  for (std::size_t r = 0; r < replicates; ++r) {
    const double own_slope = (b.rows[0][r] - a.rows[0][r]) / (b.x - a.x);
    const double x = b.x - b.rows[0][r] / trusted_slope(own_slope, result.slope);
    const double step = (x - b.x) / (b.x - a.x);
    result.x.push_back(x);
    for (std::size_t row = 0; row < result.rows.size(); ++row) {
      const double value = b.rows[row + 1][r];
      result.rows[row][r] = value + step * (value - a.rows[row + 1][r]);
    }
  }
  return result;
}

}  // namespace onset::numerics
