#include "numerics/quadrature/switch_cuts.hpp"

#include <cmath>
#include <optional>

#include "numerics/solvers/roots.hpp"

namespace onset::numerics {
namespace {

/// The step at which switches are sampled; it avoids the places where people put kinks.
constexpr double watch_step = 0.0957;

/// A place in (low, high) where f has changed sign from both ends, if its extremum lies beyond 0.
template <class Function>
std::optional<double> other_side(const Function& f, double low, double high) {
  constexpr double golden = 0.6180339887498949;
  const double sign = f(low) > 0.0 ? 1.0 : -1.0;
  for (int step = 0; step < 60; ++step) {
    const double left = high - golden * (high - low);
    const double right = low + golden * (high - low);
    const double at_left = sign * f(left);
    const double at_right = sign * f(right);
    if (at_left < 0.0) return left;
    if (at_right < 0.0) return right;
    (at_left < at_right ? high : low) = at_left < at_right ? right : left;
  }
  return std::nullopt;
}

}  // namespace

void add_cuts(const BatchFunction& switches, double half_width, std::vector<double>& cuts) {
  if (switches.outputs == 0) return;
  std::vector<double> grid;
  for (double x = -half_width; x <= half_width; x += watch_step) grid.push_back(x);
  const std::size_t n = grid.size();
  std::vector<double> values(switches.outputs * n);
  switches.evaluate(n, grid.data(), values.data());
  std::vector<double> here(switches.outputs);
  for (std::size_t k = 0; k < switches.outputs; ++k) {
    const auto value = [&](double x) {
      switches.evaluate(1, &x, here.data());
      return here[k];
    };
    const auto cut = [&](double low, double high) {
      cuts.push_back(bracketed_root(value, low, high).x);
    };
    const double* v = values.data() + k * n;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      if (v[i] * v[i + 1] < 0.0) {
        cut(grid[i], grid[i + 1]);
      } else if (i > 0 && v[i] * v[i - 1] > 0.0 && std::abs(v[i]) <= std::abs(v[i - 1]) &&
                 std::abs(v[i]) < std::abs(v[i + 1])) {
        const auto middle = other_side(value, grid[i - 1], grid[i + 1]);
        if (!middle) continue;
        cut(grid[i - 1], *middle);
        cut(*middle, grid[i + 1]);
      }
    }
  }
}

}  // namespace onset::numerics
