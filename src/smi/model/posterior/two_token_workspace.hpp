#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "smi/model/posterior/two_token_posterior.hpp"

/// What the parts of the two-token posterior share while they work on a sample.
namespace onset::smi {

using two_token::BatchSums;
using two_token::PlaneSums;

/// Beyond this exponent weights are rescaled, so that a sample whose nodes are all far off keeps a
/// finite log Z instead of 0/0.
inline constexpr double rescale_above = 300.0;

/// sums = mine * sums + theirs * others.
inline void combine(double mine, PlaneSums& sums, double theirs, const PlaneSums& others) {
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = mine * sums[k] + theirs * others[k];
}

/// omega of a layer in units of its deviation.
[[nodiscard]] inline two_token::Plane scaled_omega(const TwoTokenSample& sample,
                                                   std::size_t layer) {
  const double scale = 1.0 / sample.deviation[layer];
  return {sample.omega[layer].plus * scale, sample.omega[layer].minus * scale};
}

/// Sums over nodes of every layer's moments, in units of exp(-shift); of pairs of layers too if
/// wanted.
struct TwoTokenPosterior::LayerSums {
  LayerSums(std::size_t layers, std::size_t pairs) : layer(layers), cross(pairs) {}

  [[nodiscard]] double weight() const { return layer[0].all[0]; }

  void merge(const LayerSums& other) {
    // A proposal without weight has no scale: its shift of 0 would make the other underflow.
    if (other.weight() == 0.0) return;
    if (weight() == 0.0) {
      *this = other;
      return;
    }
    const double low = std::min(shift, other.shift);
    const double mine = std::exp(low - shift);
    const double theirs = std::exp(low - other.shift);
    for (std::size_t l = 0; l < layer.size(); ++l) {
      combine(mine, layer[l].first, theirs, other.layer[l].first);
      combine(mine, layer[l].all, theirs, other.layer[l].all);
    }
    for (std::size_t k = 0; k < cross.size(); ++k) {
      cross[k] = mine * cross[k] + theirs * other.cross[k];
    }
    shift = low;
  }

  std::vector<BatchSums> layer;
  std::vector<double> cross;  // p p' + m m'
  double shift = 0.0;
};

/// Arrays over nodes, reused from sample to sample; pairs of arrays lie end to end. Of every array
/// the first n (or 2n) entries are in use.
struct TwoTokenPosterior::Workspace {
  using Array = std::vector<double>;

  Workspace(const DeepAttention& model, std::size_t nodes, std::size_t centre_nodes)
      : laplace(model) {
    const auto layers = static_cast<std::size_t>(model.layers);
    const std::size_t drawn = 2 * (layers - 1);
    prior.assign(drawn, Array(nodes));
    near.assign(drawn, Array(centre_nodes));
    folded.assign(2 * layers, Array(nodes));
    mirrored.assign(2 * layers, Array(nodes));
    other.assign(layers, Array(nodes));
    centred.assign(2 * layers, Array(nodes));
    side.assign(layers, Array(nodes));
    for (Array* a :
         {&mix, &stretch, &minus, &lambda, &jacobian, &feasible, &exp_last, &exp_inner,
          &solved_plus, &solved_minus, &ratio, &weight, &signed_weight, &exponent, &unchanged}) {
      a->resize(nodes);
    }
    for (Array* a : {&softmax, &scores}) a->resize(2 * nodes);
    fields.resize(drawn);
  }

  /// Makes these the fields that proposals draw, `count` nodes of each.
  void use(std::vector<Array>& arrays, std::size_t count) {
    n = count;
    for (std::size_t j = 0; j < arrays.size(); ++j) fields[j] = arrays[j].data();
  }

  [[nodiscard]] two_token::Field drawn(std::size_t layer) const {
    return {fields[2 * layer], fields[2 * layer + 1]};
  }
  [[nodiscard]] two_token::Field solved() const {
    return {solved_plus.data(), solved_minus.data()};
  }
  [[nodiscard]] two_token::Field nearer(std::size_t layer) const {
    return {folded[2 * layer].data(), folded[2 * layer + 1].data()};
  }
  [[nodiscard]] two_token::Stack stack(const two_token::Layer& layer) {
    return {layer, mix.data(), stretch.data()};
  }
  /// Of the nodes in use.
  [[nodiscard]] two_token::Attention attention() {
    return {minus.data(), softmax.data(), softmax.data() + n};
  }
  [[nodiscard]] two_token::Solution solution() {
    return {solved_plus.data(), solved_minus.data(), lambda.data(), jacobian.data(),
            feasible.data()};
  }

  LaplaceProposal laplace;           // of this sample
  std::span<const double> coupling;  // of the prior
  std::size_t n = 0;                 // nodes in use
  std::vector<double*> fields;       // zeta of the drawn fields: layer * 2 + plus/minus
  std::vector<Array> prior, near;    // where they lie: of A and B, of C
  std::vector<Array> folded;         // zeta of every layer, the sign nearer to omega
  std::vector<Array> other;          // probability of the other sign, per layer
  std::vector<Array> mirrored;       // zeta of the other sign, or the mean of both
  std::vector<Array> centred;        // zeta, the sign on the centre's side
  std::vector<Array> side;           // log of its prior over that of the nearer sign, per layer
  Array mix, stretch;                // R and Lambda of B_{L-2} [smi 8]
  Array minus;                       // u_minus of layer L-1 (A, C) or z_minus of layer L (B)
  Array lambda, jacobian, feasible;
  Array softmax;                    // s1, then s2
  Array scores;                     // l1, then l2
  Array solved_plus, solved_minus;  // the solved field as zeta
  Array exp_last, exp_inner;        // exp(|zeta|^2 / 2) of layers L and L-1, nearer signs
  Array ratio;                      // density of C over that of A
  Array weight, signed_weight;      // of all signs, of one choice
  Array exponent;                   // -zeta^T K zeta / 2, then its exponential
  Array unchanged;
  std::vector<two_token::Field>
      chosen;  // zeta of every layer, of one choice of signs or their mean
};

}  // namespace onset::smi
