#include "aim/limits/flow/risk/exponential_averages.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/simd/vector_math.hpp"

namespace onset::aim {
namespace {

struct GridSizes {
  double step;        ///< in x, and in z times the deviation
  double max_z_step;  ///< of the Gaussian weight alone
  double half_width;  ///< of z
  double low;         ///< e^low is what is left out below
};

/// g is analytic for |Im x| < pi/2, so that a step h errs by exp(-pi^2/h): 5e-16 and 2e-11.
GridSizes sizes(Precision precision) {
  return precision == Precision::fine ? GridSizes{0.28, 0.4, 8.0, 34.0}
                                      : GridSizes{0.4, 0.5, 6.8, 24.0};
}

/// The table of shifted averages is finer than the grid by this factor, and read by polynomials
/// through this many points: an error of (points/2)!^2 (step/4 pi)^points, 1e-11 and less.
constexpr std::size_t refinement = 4;
constexpr std::size_t points = 12;

/// Lagrange weights at `offset` steps from the first of `points` equally spaced nodes.
std::array<double, points> lagrange_weights(double offset) {
  std::array<double, points> weights{};
  for (std::size_t j = 0; j < points; ++j) {
    weights[j] = 1.0;
    for (std::size_t k = 0; k < points; ++k) {
      const auto node = static_cast<double>(k);
      if (k != j) weights[j] *= (offset - node) / (static_cast<double>(j) - node);
    }
  }
  return weights;
}

}  // namespace

ExponentialGrid::ExponentialGrid(double deviation, Precision precision) {
  const GridSizes size = sizes(precision);
  step = size.step;
  // exp(-e^4) is 2e-24.
  constexpr double high = 4.0;
  const double first = -size.low - size.half_width * deviation;
  const double last = high + size.half_width * deviation;
  for (double at = first; at < last; at += step) x.push_back(at);
}

numerics::Rule exponential_rule(double deviation, Precision precision) {
  if (deviation == 0.0) return {{0.0}, {1.0}};
  const GridSizes size = sizes(precision);
  return numerics::normal_trapezoid(std::min(size.max_z_step, size.step / deviation),
                                    size.half_width);
}

ExponentialAverages exponential_averages(const std::vector<double>& x, double deviation,
                                         Precision precision) {
  const numerics::Rule rule = exponential_rule(deviation, precision);
  const std::size_t nodes = rule.nodes.size();
  ExponentialAverages out;
  for (auto& order : out) order.resize(x.size());
  std::vector<double> factor(nodes);
  for (std::size_t k = 0; k < nodes; ++k) factor[k] = std::exp(deviation * rule.nodes[k]);
  std::vector<double> g(nodes);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double base = std::exp(x[i]);
    for (std::size_t k = 0; k < nodes; ++k) g[k] = -base * factor[k];
    numerics::simd::exp(g, g);
    // Powers of t = e^x under the average; derivatives of g are polynomials in t times g.
    std::array<double, exponential_orders> power{};
    for (std::size_t k = 0; k < nodes; ++k) {
      const double t = base * factor[k];
      const double w0 = rule.weights[k] * g[k];
      const double w1 = w0 > 0.0 ? w0 * t : 0.0;
      const double w2 = w1 > 0.0 ? w1 * t : 0.0;
      const double w3 = w2 > 0.0 ? w2 * t : 0.0;
      power[0] += w0;
      power[1] += w1;
      power[2] += w2;
      power[3] += w3;
      power[4] += w3 > 0.0 ? w3 * t : 0.0;
    }
    out[0][i] = power[0];
    out[1][i] = -power[1];
    out[2][i] = power[2] - power[1];
    out[3][i] = -power[3] + 3.0 * power[2] - power[1];
    out[4][i] = power[4] - 6.0 * power[3] + 7.0 * power[2] - power[1];
  }
  return out;
}

ShiftedAverages::ShiftedAverages(const ExponentialGrid& grid, double deviation, double max_shift,
                                 Precision precision)
    : step_(grid.step / refinement), margin_(max_shift + points * step_) {
  const double first = grid.x.front() - margin_;
  const double last = grid.x.back() + margin_ + points * step_;
  std::vector<double> x;
  for (std::size_t i = 0; first + step_ * static_cast<double>(i) < last; ++i) {
    x.push_back(first + step_ * static_cast<double>(i));
  }
  table_ = exponential_averages(x, deviation, precision);
}

void ShiftedAverages::at(std::size_t order, double shift, std::span<double> out) const {
  const double place = (margin_ + shift) / step_ - 0.5 * points;
  const auto first = static_cast<std::size_t>(place);
  const auto weights = lagrange_weights(place - static_cast<double>(first) + 0.5 * points);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double* values = table_[order].data() + first + refinement * i;
    double sum = 0.0;
    for (std::size_t j = 0; j < points; ++j) sum += weights[j] * values[j];
    out[i] = sum;
  }
}

}  // namespace onset::aim
