// The nodes of OnsetDevicePlugin::posterior_sums: what a node is and what it weighs is that of
// Onset's own loops (src/smi/model/posterior). Plain C++17, so that the arithmetic of a device can
// be tested without one.
#pragma once

#include <cmath>
#include <cstddef>

#include "onset/device/plugin.hpp"

#ifdef __CUDACC__
#define ONSET_ON_DEVICE __host__ __device__ __forceinline__
#define ONSET_UNROLL _Pragma("unroll")
#else
#define ONSET_ON_DEVICE inline
#define ONSET_UNROLL
#endif

namespace onset_plugin {

/// As in Onset's own loops: these keep 0/0 away from nodes whose weight vanishes.
constexpr double min_lambda = 1e-18;
constexpr double min_score = 1e-200;
/// The largest logarithm of a ratio of densities.
constexpr double max_exponent = 700.0;

/// An OnsetNetwork whose nodes are where the work is done.
struct Network {
  double beta;
  double skip[ONSET_DEVICE_LAYERS];
  double gain[ONSET_DEVICE_LAYERS];  ///< product of 1 + skip over the layers below each
  std::size_t nodes[3];              ///< of the proposals
  const double* normals;
};

inline Network network_of(const OnsetNetwork& from, const double* normals) {
  Network to{from.beta, {}, {}, {from.nodes, from.last_nodes, from.centre_nodes}, normals};
  to.gain[0] = 1.0;
  for (std::size_t l = 0; l + 1 < from.layers; ++l) {
    to.skip[l] = from.skip[l];
    to.gain[l + 1] = to.gain[l] * (1.0 + from.skip[l]);
  }
  return to;
}

/// The prior that all samples share.
struct Prior {
  double deviation[ONSET_DEVICE_LAYERS];
  bool coupled;
  double coupling[ONSET_DEVICE_LAYERS * ONSET_DEVICE_LAYERS];  ///< its first layers x layers
};

inline Prior prior_of(const OnsetSamples& from, std::size_t layers) {
  Prior to{{}, from.coupling != nullptr, {}};
  for (std::size_t l = 0; l < layers; ++l) to.deviation[l] = from.deviation[l];
  for (std::size_t k = 0; to.coupled && k < layers * layers; ++k) to.coupling[k] = from.coupling[k];
  return to;
}

enum Proposal { from_prior, last_drawn, near_centre, proposals };

/// One estimate of one sample, in memory that the team shares.
template <int layers>
struct Sample {
  static constexpr int inner = 2 * (layers - 1);
  double label[2];
  double omega[2 * layers];
  double scaled[2 * layers];  ///< omega in units of the deviation
  double side[inner];
  double mean[inner];
  double factor[inner * (inner + 1) / 2];  ///< with the inverse of the diagonal
  double slope[2 * inner];
  double offset[2];
  double log_top;
  double cosine[layers - 1];
  double sine[layers - 1];
  std::size_t first_normal;
};

/// The place of row `row`'s diagonal among the rows of an upper triangle.
ONSET_ON_DEVICE constexpr int diagonal_at(int size, int row) {
  return row * size - row * (row - 1) / 2;
}

template <int layers, class Team>
ONSET_ON_DEVICE void load(const Network& network, const Prior& prior, const double* record,
                          int estimate, Team team, Sample<layers>& to) {
  constexpr OnsetSampleRecord at{layers};
  constexpr int inner = Sample<layers>::inner;
  const auto copy = [&](double* out, std::size_t from, int count) {
    for (int k = team.rank(); k < count; k += team.size()) out[k] = record[from + k];
  };
  copy(to.label, at.label(), 2);
  copy(to.omega, at.omega(), 2 * layers);
  copy(to.side, at.side(), inner);
  copy(to.mean, at.mean(), inner);
  copy(to.factor, at.factor(), inner * (inner + 1) / 2);
  copy(to.slope, at.slope(), 2 * inner);
  copy(to.offset, at.offset(), 2);
  for (int k = team.rank(); k < 2 * layers; k += team.size()) {
    to.scaled[k] = record[at.omega() + k] / prior.deviation[k / 2];
  }
  for (int l = team.rank(); l + 1 < layers; l += team.size()) {
    constexpr double whole_turn = 6.283185307179586476925286766559;
    const double angle = whole_turn * record[at.turn() + estimate * (layers - 1) + l];
    to.cosine[l] = cos(angle);
    to.sine[l] = sin(angle);
  }
  if (team.rank() == 0) {
    to.log_top = record[at.log_top()];
    const auto set = static_cast<std::size_t>(record[at.set() + estimate]);
    to.first_normal = set * inner * (network.nodes[from_prior] / 2);
  }
  team.wait();
  for (int row = team.rank(); row < inner; row += team.size()) {
    to.factor[diagonal_at(inner, row)] = 1.0 / to.factor[diagonal_at(inner, row)];
  }
  team.wait();
}

ONSET_ON_DEVICE double larger(double a, double b) {
  return a > b ? a : b;
}
ONSET_ON_DEVICE double smaller(double a, double b) {
  return a < b ? a : b;
}

ONSET_ON_DEVICE double sigmoid(double x) {
  const double e = exp(-fabs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

/// What is taken off the exponents of a proposal's weights: of the last field, of the one below,
/// and of the third proposal's density. The same names are used for the smallest ones that are met.
struct Exponents {
  double last;
  double inner;
  double ratio;
};

/// How a proposal's nodes are weighted.
struct Scales {
  double last;        ///< V of the last layer
  double inner;       ///< V of the one below, times the share of the second proposal's nodes
  double log_centre;  ///< logarithm of the share of the third one's
  Exponents shift;
  double one;   ///< the first proposal's density, after the shift
  double tilt;  ///< what is taken off the logarithm of weights that a coupling tilts
};

/// What the nodes of one estimate have in common.
template <int layers>
struct Estimate {
  const Network& network;
  const Prior& prior;
  const Sample<layers>& sample;
};

/// One node: its fields as zeta with the signs nearer to omega, the probabilities of the others,
/// and its weight [smi 8-12, 28, 29, 87].
template <int layers>
struct Node {
  static constexpr int inner = 2 * (layers - 1);
  static constexpr int products = layers * (layers - 1) / 2;
  double zeta[2 * layers];
  double other[layers];
  double exponent[layers];  ///< log of the prior of the other sign over that of the nearer one
  double both[products];    ///< probability that layers k > l both have the other sign
  double weight;
};

/// The drawn fields of node i.
template <int layers>
ONSET_ON_DEVICE void draw(const Estimate<layers>& estimate, Proposal proposal, std::size_t i,
                          Node<layers>& node) {
  constexpr int inner = Node<layers>::inner;
  const Network& network = estimate.network;
  const Sample<layers>& sample = estimate.sample;
  const std::size_t half = network.nodes[from_prior] / 2;
  const double* normals = network.normals + sample.first_normal + i / 2;
  const double sign = i % 2 == 0 ? 1.0 : -1.0;
  ONSET_UNROLL
  for (int l = 0; l + 1 < layers; ++l) {
    const double a = sign * normals[(2 * l) * half];
    const double b = sign * normals[(2 * l + 1) * half];
    node.zeta[2 * l] = sample.cosine[l] * a - sample.sine[l] * b;
    node.zeta[2 * l + 1] = sample.sine[l] * a + sample.cosine[l] * b;
  }
  if (proposal != near_centre) return;
  ONSET_UNROLL
  for (int row = inner - 1; row >= 0; --row) {
    const int diagonal = diagonal_at(inner, row);
    double x = node.zeta[row];
    ONSET_UNROLL
    for (int j = row + 1; j < inner; ++j) x -= sample.factor[diagonal + j - row] * node.zeta[j];
    node.zeta[row] = x * sample.factor[diagonal];
  }
  ONSET_UNROLL
  for (int j = 0; j < inner; ++j) node.zeta[j] += sample.mean[j];
}

/// Makes node i of a proposal. `lowest` is lowered to its exponents.
template <int layers>
ONSET_ON_DEVICE void make_node(const Estimate<layers>& estimate, Proposal proposal, std::size_t i,
                               const Scales& scales, Exponents& lowest, Node<layers>& node) {
  const auto& [network, prior, sample] = estimate;
  constexpr int top = layers - 2;  // the layer whose softmax is applied last, or inverted
  constexpr int last = layers - 1;
  draw<layers>(estimate, proposal, i, node);
  double* zeta = node.zeta;
  if (proposal == last_drawn) {
    zeta[2 * last] = zeta[2 * top];
    zeta[2 * last + 1] = zeta[2 * top + 1];
  }

  // Mix and stretch of B below the layer `top` [smi 8].
  double mix = 0.0;
  double stretch = 1.0;
  ONSET_UNROLL
  for (int l = 0; l < top; ++l) {
    const double p = sample.omega[2 * l] + prior.deviation[l] * zeta[2 * l];
    const double m = sample.omega[2 * l + 1] + prior.deviation[l] * zeta[2 * l + 1];
    const double up = network.gain[l] * p + mix * m;
    const double um = stretch * m;
    const double s1 = sigmoid(network.beta * (um * um + up * um));
    const double s2 = sigmoid(network.beta * (um * um - up * um));
    const double c = network.skip[l];
    mix = (1.0 + c) * mix + (s1 - s2) * stretch;
    stretch *= larger(s1 + s2 - 1.0 + c, min_lambda);
  }

  const double beta = network.beta;
  const double gain = network.gain[top];
  const double c = network.skip[top];
  const int drawn = proposal == last_drawn ? last : top;
  const double p = sample.omega[2 * drawn] + prior.deviation[drawn] * zeta[2 * top];
  const double m = sample.omega[2 * drawn + 1] + prior.deviation[drawn] * zeta[2 * top + 1];
  double feasible = 1.0;
  double lambda = 1.0;
  double slope = 0.0;  // of the map from layer `top` to the last, up to its factors
  double s1 = 0.0;
  double s2 = 0.0;
  if (proposal == last_drawn) {
    // The softmax diagonal that sends z_L to +-h, and the field that has it [smi 12].
    const double sign = sample.label[1] * m < 0.0 ? -1.0 : 1.0;
    const double per_stretch = 1.0 / (m * stretch);
    const double wanted = sign * sample.label[1] * per_stretch;
    const double t =
        (sign * sample.label[0] - gain * (1.0 + c) * p - (1.0 + c) * mix * m) * per_stretch;
    const double a = 0.5 * (wanted - c + 1.0 + t);
    const double b = 0.5 * (wanted - c + 1.0 - t);
    const bool ok = a > 0.0 && a < 1.0 && b > 0.0 && b < 1.0 && a + b > 1.0;
    feasible = ok ? 1.0 : 0.0;
    lambda = ok ? wanted : 1.0;
    s1 = ok ? a : 0.75;
    s2 = ok ? b : 0.75;
    const double l1 = log(s1 / (1.0 - s1));
    const double l2 = log(s2 / (1.0 - s2));
    const double um = sqrt(larger(l1 + l2, min_score) * (0.5 / beta));
    const double up = (l1 - l2) * (0.5 / beta) / um;
    const double zm = um / stretch;
    const double zp = (up - mix * zm) / gain;
    slope = m * um * stretch;
    zeta[2 * top] = (zp - sample.omega[2 * top]) / prior.deviation[top];
    zeta[2 * top + 1] = (zm - sample.omega[2 * top + 1]) / prior.deviation[top];
  } else {
    // z_L = B^{-1} h [smi 9].
    const double up = gain * p + mix * m;
    const double um = stretch * m;
    s1 = sigmoid(beta * (um * um + up * um));
    s2 = sigmoid(beta * (um * um - up * um));
    lambda = larger(s1 + s2 - 1.0 + c, min_lambda);
    const double full_mix = (1.0 + c) * mix + (s1 - s2) * stretch;
    const double zm = sample.label[1] / (lambda * stretch);
    const double zp = (sample.label[0] - full_mix * zm) / (gain * (1.0 + c));
    slope = zm * um * stretch;
    zeta[2 * last] = (zp - sample.omega[2 * last]) / prior.deviation[last];
    zeta[2 * last + 1] = (zm - sample.omega[2 * last + 1]) / prior.deviation[last];
  }
  const double jacobian = 8.0 * beta * beta / (1.0 + c) * slope * slope * (s1 * (1.0 - s1)) *
                          (s2 * (1.0 - s2)) / lambda;

  // Signs: the nearer one of every field, and of the inner ones that on the centre's side [smi 87].
  double a = sample.offset[0];
  double b = sample.offset[1];
  double log_ratio = sample.log_top + scales.log_centre;
  double nearer = 1.0;  // probability of the nearer signs of all inner fields
  double keep_last = 1.0;
  double keep_top = 1.0;
  ONSET_UNROLL
  for (int l = 0; l < layers; ++l) {
    const double op = sample.scaled[2 * l];
    const double om = sample.scaled[2 * l + 1];
    const double zp = zeta[2 * l];
    const double zm = zeta[2 * l + 1];
    const double along = (op + zp) * op + (om + zm) * om;
    const bool far = along < 0.0;
    const double exponent = -2.0 * fabs(along);
    const double e = exponent == 0.0 ? 1.0 : exp(exponent);
    const double keep = 1.0 / (1.0 + e);
    const double mirror_p = -zp - 2.0 * op;
    const double mirror_m = -zm - 2.0 * om;
    node.other[l] = e * keep;
    node.exponent[l] = exponent;
    zeta[2 * l] = far ? mirror_p : zp;
    zeta[2 * l + 1] = far ? mirror_m : zm;
    if (l == last) {
      keep_last = keep;
      continue;
    }
    if (l == top) keep_top = keep;
    nearer *= keep;
    const bool beyond = (op + zp) * sample.side[2 * l] + (om + zm) * sample.side[2 * l + 1] < 0.0;
    const double cp = beyond ? mirror_p : zp;
    const double cm = beyond ? mirror_m : zm;
    a += sample.slope[2 * l] * cp + sample.slope[2 * l + 1] * cm;
    b += sample.slope[Node<layers>::inner + 2 * l] * cp +
         sample.slope[Node<layers>::inner + 2 * l + 1] * cm;
    if (beyond != far) log_ratio += exponent;
    if (beyond && proposal == near_centre) feasible = 0.0;
  }
  log_ratio -= 0.5 * (a * a + b * b);

  const double of_last_field =
      0.5 * (zeta[2 * last] * zeta[2 * last] + zeta[2 * last + 1] * zeta[2 * last + 1]);
  const double of_top_field =
      0.5 * (zeta[2 * top] * zeta[2 * top] + zeta[2 * top + 1] * zeta[2 * top + 1]);
  lowest.last = smaller(lowest.last, of_last_field);
  lowest.inner = smaller(lowest.inner, of_top_field);
  const bool has_centre = sample.log_top < HUGE_VAL;
  if (feasible > 0.0) lowest.ratio = smaller(lowest.ratio, log_ratio);
  const Exponents& shift = scales.shift;
  const double ratio =
      has_centre ? exp(smaller(log_ratio - shift.ratio, max_exponent)) * nearer : 0.0;
  const double exp_last = exp(of_last_field - shift.last);
  const double exp_inner = exp(of_top_field - shift.inner);
  const double of_last = scales.last * exp_last * keep_last * (scales.one + ratio);
  const double flow = jacobian > 0.0 ? jacobian * exp_inner : 0.0;
  const double of_inner = scales.inner * flow * keep_top;
  node.weight = feasible / (network.gain[last] * lambda * stretch * (of_last + of_inner));
}

/// A choice of signs that is less likely than this, as a logarithm, is not looked at.
constexpr double negligible = -42.0;

/// Signs of different layers where these do not depend on one another.
template <int layers>
ONSET_ON_DEVICE void pair_signs(Node<layers>& node) {
  int pair = 0;
  ONSET_UNROLL
  for (int k = 1; k < layers; ++k) {
    ONSET_UNROLL
    for (int l = 0; l < k; ++l) node.both[pair++] = node.other[k] * node.other[l];
  }
}

/// A node's weight under a prior that couples the layers, and the probabilities of its signs, by a
/// sum over all choices of them [smi 86, 87]. The logarithm of a choice's weight is quadratic in
/// the signs; `top` is raised to the largest.
template <int layers>
ONSET_ON_DEVICE void tilt(const Estimate<layers>& estimate, double shift, double& top,
                          Node<layers>& node) {
  double total = 0.0;
  double other[layers];
  ONSET_UNROLL
  for (int l = 0; l < layers; ++l) other[l] = 0.0;
  ONSET_UNROLL
  for (int j = 0; j < Node<layers>::products; ++j) node.both[j] = 0.0;
  if (node.weight == 0.0) return;
  const double* coupling = estimate.prior.coupling;
  double log_near = node.weight;            // of the signs nearer to omega
  double alone[layers];                     // what the other sign of a layer adds to it
  double together[Node<layers>::products];  // what those of two layers add besides
  double step[2 * layers];                  // from the nearer sign to the other
  ONSET_UNROLL
  for (int j = 0; j < 2 * layers; ++j) {
    step[j] = -2.0 * (node.zeta[j] + estimate.sample.scaled[j]);
  }
  ONSET_UNROLL
  for (int l = 0; l < layers; ++l) log_near *= 1.0 - node.other[l];
  log_near = log(log_near);
  ONSET_UNROLL
  for (int k = 0; k < layers; ++k) {
    const double own = 0.5 * coupling[k * layers + k];
    const double x = node.zeta[2 * k];
    const double y = node.zeta[2 * k + 1];
    const double sx = step[2 * k];
    const double sy = step[2 * k + 1];
    log_near -= own * (x * x + y * y);
    alone[k] = node.exponent[k] - own * (sx * (sx + 2.0 * x) + sy * (sy + 2.0 * y));
    ONSET_UNROLL
    for (int l = 0; l < k; ++l) {
      const double c = coupling[k * layers + l];
      const double a = node.zeta[2 * l];
      const double b = node.zeta[2 * l + 1];
      log_near -= c * (x * a + y * b);
      alone[k] -= c * (sx * a + sy * b);
      alone[l] -= c * (step[2 * l] * x + step[2 * l + 1] * y);
      together[k * (k - 1) / 2 + l] = -c * (sx * step[2 * l] + sy * step[2 * l + 1]);
    }
  }
  double most[layers];  // that the other sign can add, whatever the signs of other layers are
  ONSET_UNROLL
  for (int k = 0; k < layers; ++k) {
    most[k] = alone[k];
    ONSET_UNROLL
    for (int l = 0; l < k; ++l) {
      const double gain = larger(together[k * (k - 1) / 2 + l], 0.0);
      most[k] += gain;
      most[l] += gain;
    }
  }
  unsigned closed = 0;  // layers whose other sign does not matter
  ONSET_UNROLL
  for (int k = 0; k < layers; ++k) closed |= most[k] < negligible ? 1u << k : 0u;

  for (unsigned choice = 0; choice < 1u << layers; ++choice) {
    if ((choice & closed) != 0) continue;
    double exponent = log_near;
    ONSET_UNROLL
    for (int k = 0; k < layers; ++k) {
      exponent += choice >> k & 1u ? alone[k] : 0.0;
      ONSET_UNROLL
      for (int l = 0; l < k; ++l) {
        exponent += (choice >> k & choice >> l & 1u) != 0 ? together[k * (k - 1) / 2 + l] : 0.0;
      }
    }
    top = larger(top, exponent);
    const double weight = exp(exponent - shift);
    total += weight;
    ONSET_UNROLL
    for (int k = 0; k < layers; ++k) {
      other[k] += choice >> k & 1u ? weight : 0.0;
      ONSET_UNROLL
      for (int l = 0; l < k; ++l) {
        node.both[k * (k - 1) / 2 + l] += (choice >> k & choice >> l & 1u) != 0 ? weight : 0.0;
      }
    }
  }
  node.weight = total;
  // The inverse of a weight that nearly underflows would overflow.
  const double whole = total > 0.0 ? total : 1.0;
  ONSET_UNROLL
  for (int l = 0; l < layers; ++l) node.other[l] = other[l] / whole;
  ONSET_UNROLL
  for (int j = 0; j < Node<layers>::products; ++j) node.both[j] /= whole;
}

}  // namespace onset_plugin
