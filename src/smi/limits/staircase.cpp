#include "onset/smi/limits/staircase.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "onset/core/error.hpp"
#include "onset/numerics/roots.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

/// Inner nodes per half: the bias left after correction is then below 1e-3 of every growth rate.
constexpr int inner_nodes = 256;

/// Outer points per replicate of the scan that brackets a threshold, and of its first refinement.
constexpr std::size_t scan_points = 128;
constexpr std::size_t first_root_points = 1024;

/// Scan of a stage's total depth: it doubles from the first to the last.
constexpr double scan_first = 0.3;
constexpr double scan_last = 40.0;

/// Depth of every layer at the deep end of the last branch: V ~ 1e-6.
constexpr double deep = 14.0;

constexpr int first_branch_nodes = 10;

/// Where the bracket of the scan leaves the root to the fine channel.
constexpr double bracket_width = 0.1;
/// Distance (in log V) of the last evaluation from a root at which one secant step finishes it.
constexpr double root_tolerance = 0.02;

/// The standard error falls at least like points^-rate; used to choose the next number of points.
constexpr double error_rate = 0.6;

/// Jumps below this are the width of a continuous transition on the grid.
constexpr double smallest_jump = 1e-3;

constexpr double significance = 3.0;

std::size_t next_power_of_two(double x) {
  std::size_t p = 1;
  while (static_cast<double>(p) < x) p *= 2;
  return p;
}

Estimate exponential(const Replicates& logs, double relative_bias) {
  const Replicates values = numerics::map(logs, [](double x) { return std::exp(x); });
  return numerics::reduce(values, relative_bias * numerics::mean(values));
}

class Builder {
 public:
  Builder(const DeepAttention& model, const StaircaseOptions& options, const Context& context)
      : model_(model), options_(options), context_(context) {}

  Staircase build() {
    const auto layers = static_cast<std::size_t>(model_.layers);
    result_.perfect = static_cast<double>(model_.layers) / model_.tokens;
    context_.report(0.0, "first threshold");
    StageStart start = first_threshold();
    std::vector<bool> learned(layers, false);
    for (std::size_t stage = 0; stage < layers; ++stage) {
      const auto layer = static_cast<std::size_t>(layer_);
      learned[layer] = true;
      const bool last = stage + 1 == layers;
      if (last) {
        context_.report(0.6, "branch to perfect recovery");
        double end = 0.0;
        for (std::size_t l = 0; l < layers; ++l) end += numerics::mean(start.depth[l]);
        const auto nodes = traced(learned, start, end + deep * static_cast<double>(layers),
                                  options_.trace_nodes);
        add_step(start, nodes);
        recovery(nodes);
      } else {
        context_.report(0.2, "next threshold");
        StageStart next = next_threshold(learned);
        const double end = mean_position(next) + 2.0 * bracket_width;
        const auto nodes = traced(learned, start, end, first_branch_nodes);
        const int here = std::exchange(layer_, next_layer_);
        std::swap(layer_, next_layer_);
        layer_ = here;
        add_step(start, nodes);
        layer_ = next_layer_;
        const Branch& branch = result_.steps.back().branch;
        for (std::size_t r = 0; r < next.log_alpha.size(); ++r) {
          next.log_evidence[r] = branch.at_position(r, next.position(r)).log_evidence;
        }
        start = std::move(next);
      }
    }
    context_.report(1.0, "");
    return std::move(result_);
  }
