// The first stage of a staircase: what is learned where nothing is known yet.

#include <algorithm>
#include <cmath>
#include <utility>

#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "smi/limits/inner_nodes.hpp"
#include "smi/limits/label_integral_at_zero.hpp"
#include "smi/limits/staircase_builder.hpp"

namespace onset::smi::stairs {
namespace {

/// Lattice points of the first threshold's inner fields, to begin with.
constexpr std::size_t first_lattice = 2048;

/// Outer points per replicate of the channel at overlap 0, to begin with.
constexpr std::size_t first_points = 1024;

}  // namespace

bool is_positive(const Replicates& values) {
  const Estimate e = numerics::reduce(values);
  return e.value > min_rate && e.value > strict_significance * e.error;
}

ChannelAtZero Builder::sampled_at_zero(std::size_t points) const {
  std::vector<double> variance(blocks_);
  for (std::size_t b = 0; b < blocks_; ++b) variance[b] = std::exp(-held_log_precision(b));
  return sampled_channel_at_zero(model_, channel_options(points, growth_nodes), variance, context_);
}

std::optional<ChannelAtZero> Builder::ruled_at_zero(std::size_t nodes) const {
  if (!options_.held.empty()) return std::nullopt;
  auto own = model_.channel_at_zero({.nodes = nodes, .seed = options_.seed}, context_);
  return own ? std::move(own) : label_integral_at_zero(model_, context_);
}

std::optional<NextStage> Builder::first_stage() {
  std::size_t nodes = first_lattice;
  std::size_t points = first_points;
  for (;;) {
    const std::optional<ChannelAtZero> ruled = ruled_at_zero(nodes);
    const ChannelAtZero channel = ruled ? *ruled : sampled_at_zero(points);
    std::optional<NextStage> stage = stage_at(channel);
    result_.log_evidence = channel.log_evidence;
    result_.log_evidence_bias = channel.log_evidence_bias;
    if (!stage || stage->trivial) return stage;
    const Estimate alpha = threshold(*stage);
    const double allowed =
        ruled ? options_.first_tolerance : std::max(options_.first_tolerance, options_.tolerance);
    const bool last = ruled ? nodes == numerics::max_lattice_size : points >= options_.max_points;
    if (alpha.error <= allowed || last) {
      // The first one is computed to more than was asked where that is cheap.
      result_.met_tolerance = result_.met_tolerance && alpha.error <= options_.tolerance;
      return stage;
    }
    nodes *= 2;
    points = std::min(options_.max_points, points * 4);
  }
}

std::optional<std::size_t> Builder::fastest_open(const std::vector<Replicates>& growth) const {
  std::optional<std::size_t> fastest;
  for (std::size_t b = 0; b < blocks_; ++b) {
    if (!is_open(b) || !is_positive(growth[b])) continue;
    if (!fastest || numerics::mean(growth[b]) > numerics::mean(growth[*fastest])) fastest = b;
  }
  return fastest;
}

Blocks Builder::as_fast(const std::vector<Replicates>& growth, std::size_t fastest) const {
  Blocks blocks;
  for (std::size_t b = 0; b < blocks_; ++b) {
    if (!is_open(b)) continue;
    Replicates behind = growth[fastest];
    for (std::size_t r = 0; r < behind.size(); ++r) behind[r] -= growth[b][r];
    const Estimate e = numerics::reduce(behind);
    if (e.value <= significance * e.error) blocks.push_back(b);
  }
  return blocks;
}

std::optional<NextStage> Builder::stage_at(const ChannelAtZero& channel) const {
  NextStage stage;
  stage.start.log_evidence = channel.log_evidence;
  for (std::size_t b = 0; b < blocks_; ++b) {
    stage.start.log_precision.emplace_back(channel.log_evidence.size(), held_log_precision(b));
  }
  stage.start.log_precision_scale = first_log_precision_scale;
  Replicates pull(channel.log_evidence.size(), 0.0);
  for (std::size_t b = 0; b < blocks_; ++b) {
    if (!is_open(b) || !is_positive(channel.pull[b])) continue;
    stage.blocks.push_back(b);
    for (std::size_t r = 0; r < pull.size(); ++r) pull[r] += channel.pull[b][r];
  }
  if (!stage.blocks.empty()) {
    stage.trivial = stage.start.from_nothing = true;
    stage.start.log_alpha = numerics::map(pull, [](double p) { return -std::log(p); });
    return stage;
  }
  const std::optional<std::size_t> best = fastest_open(channel.growth);
  if (!best) return {};
  const std::size_t fastest = *best;
  stage.blocks = as_fast(channel.growth, fastest);
  stage.start.log_alpha =
      numerics::map(channel.growth[fastest], [](double f) { return -std::log(f); });
  stage.start.relative_bias = channel.relative_bias[fastest];
  return stage;
}

}  // namespace onset::smi::stairs
