// The sums of OnsetDevicePlugin::posterior_sums, for one estimate of one sample, by a team of
// workers that share its nodes (two_token_nodes.hpp): the 32 lanes of a warp on a GPU, or one
// worker on a processor. They are those of Onset's own loops, in another order.
#pragma once

#include <cfloat>

#include "two_token_nodes.hpp"

namespace onset_plugin {

/// Beyond this smallest exponent of all nodes weights are rescaled.
constexpr double rescale_above = 300.0;

/// The sums of a sample over the first half of each proposal's nodes, then over all, products last.
/// The team shares them too.
template <int layers, bool with_products>
struct Totals {
  static constexpr int moments = 1 + 5 * layers;
  static constexpr int products = with_products ? layers * (layers - 1) / 2 : 0;
  static constexpr int size = 2 * moments + products;
  double so_far[size];  ///< of the proposals so far
  double part[size];    ///< of the present one
};

/// Adds a node to a worker's sums, both signs of every field with their probabilities.
template <int layers>
ONSET_ON_DEVICE void add(const Sample<layers>& sample, const Node<layers>& node, double* sums) {
  sums[0] += node.weight;
  ONSET_UNROLL
  for (int l = 0; l < layers; ++l) {
    const double x = node.zeta[2 * l];
    const double y = node.zeta[2 * l + 1];
    const double other_x = -x - 2.0 * sample.scaled[2 * l];
    const double other_y = -y - 2.0 * sample.scaled[2 * l + 1];
    const double second = node.weight * node.other[l];
    const double first = node.weight - second;
    double* of = sums + 1 + 5 * l;
    of[0] += first * x + second * other_x;
    of[1] += first * y + second * other_y;
    of[2] += first * x * x + second * other_x * other_x;
    of[3] += first * x * y + second * other_x * other_y;
    of[4] += first * y * y + second * other_y * other_y;
  }
}

/// Adds a node's products p p' + m m' of layers k > l to a worker's sums.
template <int layers>
ONSET_ON_DEVICE void add_products(const Sample<layers>& sample, const Node<layers>& node,
                                  double* sums) {
  int pair = 0;
  ONSET_UNROLL
  for (int k = 1; k < layers; ++k) {
    ONSET_UNROLL
    for (int l = 0; l < k; ++l, ++pair) {
      double product = 0.0;
      ONSET_UNROLL
      for (int j = 0; j < 2; ++j) {
        const double x = node.zeta[2 * k + j];
        const double y = node.zeta[2 * l + j];
        const double step_x = -2.0 * (x + sample.scaled[2 * k + j]);
        const double step_y = -2.0 * (y + sample.scaled[2 * l + j]);
        product += x * y + node.other[k] * step_x * y + node.other[l] * x * step_y +
                   node.both[pair] * step_x * step_y;
      }
      sums[pair] += node.weight * product;
    }
  }
}

/// Beyond which the weights of all nodes of a proposal would underflow; 0 as a rule.
ONSET_ON_DEVICE double needed_shift(double lowest) {
  return lowest > rescale_above && lowest < HUGE_VAL ? lowest : 0.0;
}

/// The scales of a proposal whose smallest exponents are these; the shift that its sums then have.
template <int layers>
ONSET_ON_DEVICE double rescale(const Estimate<layers>& estimate, Proposal proposal,
                               const Exponents& lowest, Scales& scales) {
  const auto& [network, prior, sample] = estimate;
  const double nodes = static_cast<double>(network.nodes[from_prior]);
  const double last = prior.deviation[layers - 1];
  const double top = prior.deviation[layers - 2];
  scales.last = last * last;
  scales.inner = static_cast<double>(network.nodes[last_drawn]) / nodes * (top * top);
  scales.log_centre = log(static_cast<double>(network.nodes[near_centre]) / nodes);
  if (proposal == last_drawn) {
    const double shift = needed_shift(lowest.inner);
    scales.shift = {0.0, shift, shift};
    scales.one = exp(-shift);
    return shift;
  }
  const double shift = needed_shift(lowest.last);
  if (proposal == from_prior) {
    scales.shift = {shift, 0.0, 0.0};
    scales.inner *= exp(-shift);
    scales.one = 1.0;
    return shift;
  }
  const double of_ratio = needed_shift(lowest.ratio);
  scales.shift = {shift, shift + of_ratio, of_ratio};
  // Above 0, so that an overflow of its factor stays one.
  scales.one = larger(exp(-of_ratio), DBL_MIN);
  return shift + of_ratio;
}

/// Puts a proposal's sums, in units of exp(-part_shift), to those before it.
template <class Team, class Sums>
ONSET_ON_DEVICE void merge(Team team, double part_shift, Sums& sums, double& shift) {
  const double part_weight = sums.part[Sums::moments];
  const double weight = sums.so_far[Sums::moments];
  team.wait();
  // A proposal without weight has no scale: its shift of 0 would make the other underflow.
  if (part_weight == 0.0) return;
  const double low = weight == 0.0 ? part_shift : smaller(shift, part_shift);
  const double mine = weight == 0.0 ? 0.0 : exp(low - shift);
  const double theirs = exp(low - part_shift);
  for (int k = team.rank(); k < Sums::size; k += team.size()) {
    sums.so_far[k] = mine * sums.so_far[k] + theirs * sums.part[k];
  }
  shift = low;
  team.wait();
}

/// What was met among the nodes of a proposal: its smallest exponents, and the largest logarithm of
/// a weight that a coupling tilts.
struct Met {
  Exponents lowest;
  double top;
};

/// Sums over the nodes of a proposal.
template <int layers, bool with_products, class Team>
ONSET_ON_DEVICE Met sum_nodes(const Estimate<layers>& estimate, Proposal proposal,
                              const Scales& scales, Team team,
                              Totals<layers, with_products>& totals) {
  constexpr int moments = Totals<layers, with_products>::moments;
  constexpr int products = Totals<layers, with_products>::products;
  const std::size_t half = estimate.network.nodes[proposal] / 2;
  Met met{{HUGE_VAL, HUGE_VAL, HUGE_VAL}, -HUGE_VAL};
  for (int batch = 0; batch < 2; ++batch) {
    double sums[moments + products];
    ONSET_UNROLL
    for (int j = 0; j < moments + products; ++j) sums[j] = 0.0;
    for (std::size_t i = team.rank(); i < half; i += team.size()) {
      Node<layers> node;
      make_node<layers>(estimate, proposal, batch * half + i, scales, met.lowest, node);
      if constexpr (with_products) {
        if (estimate.prior.coupled) {
          tilt<layers>(estimate, scales.tilt, met.top, node);
        } else {
          pair_signs<layers>(node);
        }
        add_products<layers>(estimate.sample, node, sums + moments);
      }
      add<layers>(estimate.sample, node, sums);
    }
    ONSET_UNROLL
    for (int j = 0; j < moments + products; ++j) {
      const double total = team.sum(sums[j]);
      if (team.rank() != j % team.size()) continue;
      double* const all = totals.part + moments + j;
      if (batch == 0) {
        *all = total;
        if (j < moments) totals.part[j] = total;
      } else {
        *all += total;
      }
    }
  }
  return {{team.min(met.lowest.last), team.min(met.lowest.inner), team.min(met.lowest.ratio)},
          -team.min(-met.top)};
}

/// Sums over the nodes of a proposal in units that keep them from underflow and overflow, and the
/// shift of these units. A second and a third time only where they need one.
template <int layers, bool with_products, class Team>
ONSET_ON_DEVICE double scaled_sums(const Estimate<layers>& estimate, Proposal proposal, Team team,
                                   Totals<layers, with_products>& totals) {
  Scales scales{};
  double shift = rescale<layers>(estimate, proposal, {0.0, 0.0, 0.0}, scales);
  double tilt = 0.0;
  for (;;) {
    scales.tilt = tilt;
    const Met met = sum_nodes<layers, with_products>(estimate, proposal, scales, team, totals);
    Scales needed{};
    const double needed_shift = rescale<layers>(estimate, proposal, met.lowest, needed);
    if (shift == 0.0 && needed_shift > 0.0) {
      shift = needed_shift;
      scales = needed;
    } else if (tilt == 0.0 && fabs(met.top) > rescale_above && fabs(met.top) < HUGE_VAL) {
      tilt = met.top;
    } else {
      return shift - tilt;
    }
  }
}

/// All of it, for one estimate (0 or 1) of one sample: OnsetSampleRecord::sums() numbers. `sample`
/// is that of `estimate`.
template <int layers, bool with_products, class Team>
ONSET_ON_DEVICE void posterior_sums(const Estimate<layers>& estimate, const double* record,
                                    int which, Team team, Sample<layers>& sample,
                                    Totals<layers, with_products>& totals, double* out) {
  load<layers>(estimate.network, estimate.prior, record, which, team, sample);
  for (int k = team.rank(); k < totals.size; k += team.size()) totals.so_far[k] = 0.0;
  double shift = 0.0;
  for (int k = 0; k < proposals; ++k) {
    const Proposal proposal = static_cast<Proposal>(k);
    if (proposal == near_centre && !(sample.log_top < HUGE_VAL)) continue;
    const double part_shift = scaled_sums<layers, with_products>(estimate, proposal, team, totals);
    team.wait();
    merge(team, part_shift, totals, shift);
  }
  if (team.rank() == 0) out[0] = shift;
  for (int k = team.rank(); k < totals.size; k += team.size()) out[1 + k] = totals.so_far[k];
  team.wait();
}

}  // namespace onset_plugin
