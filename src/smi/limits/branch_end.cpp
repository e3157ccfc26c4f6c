#include "smi/limits/branch_end.hpp"

#include <algorithm>
#include <cmath>

#include "onset/numerics/interpolation.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

/// The log precision over which V, and also its square root, falls by more than half.
constexpr double settling_log_precision = 3.0;

/// The relative rounding error of an exact number after sums over many points.
constexpr double rounding = 1e-14;

/// The number of standard errors beyond which alpha is said to fall or to rise.
constexpr double significance = 3.0;

/// Half of the samples must still be four, which an interpolant needs.
constexpr std::size_t min_for_halving = 8;

/// The maximum of a sampled curve, looked for between the neighbours of its largest sample on a
/// fine grid.
double top_of(const std::vector<double>& x, const std::vector<double>& y) {
  const auto top = static_cast<std::size_t>(std::max_element(y.begin(), y.end()) - y.begin());
  const double low = x[top == 0 ? 0 : top - 1];
  const double high = x[std::min(top + 1, x.size() - 1)];
  const numerics::Interpolant curve(x, y);
  constexpr int steps = 64;
  double best = x[top];
  for (int k = 0; k <= steps; ++k) {
    const double at = low + (high - low) * k / steps;
    if (curve(at) > curve(best)) best = at;
  }
  return best;
}

/// How much the top of the mean curve moves when every second sample is left out: a bound on what
/// interpolation does to it.
double interpolation_error(const std::vector<double>& x, const std::vector<FixedPointNode>& nodes) {
  std::vector<double> all;
  for (const FixedPointNode& node : nodes) all.push_back(numerics::mean(node.log_alpha));
  const double at = top_of(x, all);
  const double top = numerics::Interpolant(x, all)(at);
  // There are too few samples to leave any out.
  if (nodes.size() < min_for_halving) return top - *std::max_element(all.begin(), all.end());
  std::vector<double> some_x;
  std::vector<double> some;
  for (std::size_t i = nodes.size() % 2 == 0 ? 1 : 0; i < nodes.size(); i += 2) {
    some_x.push_back(x[i]);
    some.push_back(all[i]);
  }
  return std::abs(top - numerics::Interpolant(some_x, some)(std::max(at, some_x.front())));
}

/// The overlap where a folded branch has risen to its threshold's alpha again, or a little more.
Replicates overlap_above(const StageStart& start, std::size_t block, const Branch& branch,
                         double more) {
  Replicates overlap;
  for (std::size_t r = 0; r < start.log_alpha.size(); ++r) {
    const auto points = branch.stable_points(r, start.log_alpha[r] + more);
    overlap.push_back(points.empty() ? 1.0 : -std::expm1(-points.back().log_precision[block]));
  }
  return overlap;
}

}  // namespace

bool folds(const StageStart& start, const std::vector<FixedPointNode>& nodes) {
  for (const auto& node : nodes) {
    Replicates rise = node.log_alpha;
    for (std::size_t r = 0; r < rise.size(); ++r) rise[r] -= start.log_alpha[r];
    const Estimate e = numerics::reduce(rise, node.relative_bias + start.relative_bias);
    if (e.value < -significance * e.error) return true;
    if (e.value > significance * e.error) return false;
  }
  return false;
}

Estimate jump(const StageStart& start, std::size_t block, const Branch& branch) {
  const Replicates overlap = overlap_above(start, block, branch, 0.0);
  const double moved = numerics::mean(overlap_above(start, block, branch, branch.relative_bias()));
  return numerics::reduce(overlap, std::abs(moved - numerics::mean(overlap)));
}

Estimate exponential(const Replicates& logs, double relative_bias) {
  const Replicates values = numerics::map(logs, [](double x) { return std::exp(x); });
  return numerics::reduce(values, (relative_bias + rounding) * numerics::mean(values));
}

const FixedPointNode& shallower(const std::vector<FixedPointNode>& nodes) {
  const auto far = std::find_if(nodes.rbegin(), nodes.rend(), [&](const FixedPointNode& node) {
    return node.position <= nodes.back().position - settling_log_precision;
  });
  return far == nodes.rend() ? nodes.front() : *far;
}

std::vector<FixedPointNode> anchored_at_end(std::vector<FixedPointNode> nodes, double end) {
  const double remaining =
      std::abs(numerics::mean(nodes.back().log_alpha) - numerics::mean(shallower(nodes).log_alpha));
  const Replicates last = nodes.back().log_alpha;
  for (FixedPointNode& node : nodes) {
    for (std::size_t r = 0; r < last.size(); ++r) node.log_alpha[r] += std::log(end) - last[r];
    node.relative_bias += remaining;
  }
  return nodes;
}

double upper_bound(const std::vector<FixedPointNode>& nodes) {
  double bound = 0.0;
  for (const FixedPointNode& node : nodes) {
    const Estimate alpha = exponential(node.log_alpha, node.relative_bias);
    bound = std::max(bound, alpha.value + significance * alpha.error);
  }
  return bound;
}

Estimate max_alpha(const std::vector<FixedPointNode>& nodes) {
  const std::size_t replicates = nodes.front().log_alpha.size();
  std::vector<double> x;
  for (const FixedPointNode& node : nodes) x.push_back(std::log(node.position));
  Replicates values(replicates);
  double bias = 0.0;
  for (std::size_t parity = 0; parity < 2; ++parity) {
    std::vector<double> chooser(nodes.size(), 0.0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (std::size_t r = parity; r < replicates; r += 2) chooser[i] += nodes[i].log_alpha[r];
    }
    const double at = top_of(x, chooser);
    for (std::size_t r = 1 - parity; r < replicates; r += 2) {
      std::vector<double> curve;
      for (const FixedPointNode& node : nodes) curve.push_back(node.log_alpha[r]);
      values[r] = numerics::Interpolant(x, curve)(at);
    }
    const auto nearest = std::lower_bound(x.begin(), x.end(), at) - x.begin();
    bias = std::max(bias,
                    nodes[std::min(static_cast<std::size_t>(nearest), x.size() - 1)].relative_bias);
  }
  return exponential(values, bias + interpolation_error(x, nodes));
}

}  // namespace onset::smi
