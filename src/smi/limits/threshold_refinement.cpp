#include "smi/limits/threshold_refinement.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "smi/limits/branch_end.hpp"
#include "smi/limits/inner_nodes.hpp"

namespace onset::smi {
namespace {

/// The shares of the tolerance that scatter and bias may use up before they are reduced, and the
/// largest factor by which the points grow at a time (since first errors are rough). Scatter falls
/// like points^-1/2.
constexpr double scatter_share = 0.85;
constexpr double bias_share = 0.5;
constexpr double max_factor = 64.0;

std::size_t nearest_power_of_two(double x) {
  return std::size_t{1} << std::lround(std::log2(x));
}

}  // namespace

RefinedThreshold refine_threshold(const SequenceModel& model, const StaircaseOptions& options,
                                  const std::vector<bool>& learned, std::size_t block,
                                  std::vector<double> guess, const Context& context) {
  std::size_t points =
      std::min(options.max_points, std::max(options.root_points, options.trace_points));
  int inner = options.node_factor * first_nodes(growth_nodes, learned.size()) / 2;
  const auto channel_of = [&](std::size_t outer, int nodes) {
    ChannelOptions of;
    of.points = outer;
    of.nodes = nodes;
    of.seed = options.seed;
    return Channel(model, of);
  };
  const Channel slopes = channel_of(std::min(points, options.slope_points),
                                    options.node_factor * first_nodes(gain_nodes, learned.size()));
  const double max_work = static_cast<double>(options.max_points) * growth_nodes;
  const auto affordable = [&](double more_points, double more_nodes) {
    return static_cast<double>(points) * more_points * inner * more_nodes <= max_work;
  };
  RefinedThreshold result;
  numerics::Replicates before;   // log alpha when the inner nodes were last doubled
  bool doubled = false;          // whether that has happened
  std::optional<double> change;  // its change by the last doubling
  for (;;) {
    FixedPointNode& node = result.node;
    node = solve_threshold(channel_of(points, inner), slopes, learned, block, guess, context);
    const double log_alpha = numerics::mean(node.log_alpha);
    // What is left of a bias that falls like 1/n, or faster, is at most its last change [smi 85].
    if (doubled) change = systematic_change(before, node.log_alpha);
    if (change) node.relative_bias = std::max(node.relative_bias, *change);
    const double scatter = exponential(node.log_alpha, 0.0).error;
    const double bias = node.relative_bias * std::exp(log_alpha);
    const bool compared = change.has_value() || node.relative_bias < exact_bias;
    if (compared && std::hypot(scatter, bias) <= options.tolerance) return result;
    const bool inaccurate = node.status.reason == StopReason::inaccurate;
    const bool finer = inner < options.max_nodes && affordable(1.0, 2.0) &&
                       (!compared || inaccurate || bias > bias_share * options.tolerance);
    const double excess = scatter / (scatter_share * options.tolerance);
    const bool more = excess > 1.0 && affordable(2.0, 1.0);
    if (!(node.status.converged() || inaccurate) || (!finer && !more)) {
      result.met_tolerance = false;
      return result;
    }
    doubled = finer;
    if (finer) {
      inner *= 2;
      before = node.log_alpha;
    } else {
      const double factor = std::clamp(excess * excess, 2.0, max_factor);
      const auto wanted = nearest_power_of_two(static_cast<double>(points) * factor);
      while (points < wanted && affordable(2.0, 1.0)) points *= 2;
    }
    for (std::size_t b = 0; b < guess.size(); ++b) guess[b] = numerics::mean(node.log_precision[b]);
  }
}

}  // namespace onset::smi
