#include "smi/model/posterior/two_token_posterior.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "numerics/quasi_monte_carlo.hpp"
#include "numerics/simd/vector_math.hpp"
#include "smi/model/posterior/node_sets.hpp"
#include "smi/model/posterior/ratio_bias.hpp"

namespace onset::smi {
namespace {

namespace simd = numerics::simd;
using two_token::Plane;

/// Node sets are shared by samples after a random rotation. Too few put a floor under the error
/// that more samples cannot lower; replicates draw from disjoint blocks, so their scatter shows it.
constexpr std::size_t sets_per_replicate = 64;
constexpr std::size_t replicate_blocks = 16;
constexpr std::size_t node_sets = sets_per_replicate * replicate_blocks;

/// Keeps the scrambles of inner nodes apart from those of outer points, which count from 0.
constexpr std::uint64_t first_inner_scramble = std::uint64_t{1} << 40;

/// Beyond this exponent weights are rescaled, so that a sample whose nodes are all far off keeps a
/// finite log Z instead of 0/0.
constexpr double rescale_above = 300.0;

/// The largest exponent of a density, so that the density stays finite.
constexpr double max_exponent = 700.0;

/// Proposal B has the number of nodes of A divided by the first of these, C by the second.
constexpr std::size_t last_share = 2;
constexpr std::size_t centre_share = 4;

/// Where choices of signs are enumerated, a sign that is less likely than this everywhere is left
/// out.
constexpr double negligible_sign = 1e-18;

Plane rotate_tokens(double first, double second) {
  constexpr double half_sqrt2 = 0.5 * std::numbers::sqrt2;
  return {(first + second) * half_sqrt2, (first - second) * half_sqrt2};
}

/// Weighted sums of one layer: 1, p, m, p p, p m, m m.
using PlaneSums = std::array<double, 6>;

/// The sums over the first half of the nodes, and over all.
struct BatchSums {
  PlaneSums first{};
  PlaneSums all{};
};

void combine(double mine, PlaneSums& sums, double theirs, const PlaneSums& others) {
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = mine * sums[k] + theirs * others[k];
}

/// Makes both from a function of the first node and the number of nodes.
template <class Sums>
BatchSums batch_sums(std::size_t n, const Sums& sums_of) {
  BatchSums sums{sums_of(0, n / 2), sums_of(n / 2, n / 2)};
  combine(1.0, sums.all, 1.0, sums.first);
  return sums;
}

/// The biases that finitely many nodes give the averages over them, with a 1 in place of their sum.
PlaneSums biases(const BatchSums& sums) {
  const double total = sums.all[0];
  PlaneSums bias{1.0};
  for (std::size_t k = 1; k < bias.size(); ++k) {
    bias[k] = ratio_bias(sums.first[0] / total, sums.first[k] / total, sums.all[k] / total);
  }
  return bias;
}

/// omega of a layer in units of its deviation.
Plane scaled_omega(const TwoTokenSample& sample, std::size_t layer) {
  const double scale = 1.0 / sample.deviation[layer];
  return {sample.omega[layer].plus * scale, sample.omega[layer].minus * scale};
}

/// The largest logarithm of the linearised posterior over the prior.
double log_top(const LaplaceComponent& c) {
  return c.log_determinant + c.exponent;
}

/// Where the linearised label is so far off the prior that their difference is lost in rounding,
/// there is no proposal C.
bool is_usable(const LaplaceComponent& c) {
  return log_top(c) < 1e6;
}

/// A vector that tells the two sides of a field apart.
Plane side_of(Plane centre) {
  const bool vanishes = centre.plus == 0.0 && centre.minus == 0.0;
  return vanishes ? Plane{1.0, 1.0} : centre;
}

/// exp(|zeta|^2 / 2 - shift) of a field, and the shift, which is 0 unless every exponent is large.
double shifted_exponentials(two_token::Field zeta, std::vector<double>& out, std::size_t n) {
  const double lowest = two_token::exponents(zeta.plus, zeta.minus, out.data(), n);
  const double shift = lowest > rescale_above ? lowest : 0.0;
  if (shift > 0.0) {
    for (std::size_t i = 0; i < n; ++i) out[i] -= shift;
  }
  simd::exp({out.data(), n}, {out.data(), n});
  return shift;
}

/// Writes the moments in the basis of the two tokens; rows are `count` apart.
void store_unrotated(const PlaneSums& sums, double* mean, double* second, std::size_t count) {
  const double z = sums[0];
  const Plane tokens = rotate_tokens(sums[1] / z, sums[2] / z);
  const double even = 0.5 * (sums[3] + sums[5]) / z;
  const double odd = sums[4] / z;
  mean[0] = tokens.plus;
  mean[count] = tokens.minus;
  second[0] = even + odd;
  second[count] = 0.5 * (sums[3] - sums[5]) / z;
  second[2 * count] = even - odd;
}

}  // namespace

/// Sums over nodes of every layer's moments, and of pairs of layers if wanted, in units of
/// exp(-shift).
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

/// Arrays over nodes, reused from sample to sample; pairs of arrays lie end to end. The first n (or
/// 2n) entries of every array are in use.
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
  [[nodiscard]] two_token::Solution solution() {
    return {solved_plus.data(), solved_minus.data(), lambda.data(), jacobian.data(),
            feasible.data()};
  }

  LaplaceProposal laplace;           // the proposal of this sample
  std::span<const double> coupling;  // the coupling of the prior
  std::size_t n = 0;                 // nodes in use
  std::vector<double*> fields;       // zeta of the drawn fields: layer * 2 + plus/minus
  std::vector<Array> prior, near;    // where they lie: those of A and B, those of C
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
  Array weight, signed_weight;      // the weight of all signs, and of one choice
  Array exponent;                   // -zeta^T K zeta / 2, then its exponential
  Array unchanged;
  std::vector<two_token::Field>
      chosen;  // zeta of every layer for one choice of signs, or their mean
};

TwoTokenPosterior::TwoTokenPosterior(const DeepAttention& model, const PosteriorOptions& options)
    : model_(model),
      nodes_(static_cast<std::size_t>(options.nodes)),
      last_nodes_(nodes_ / last_share),
      centre_nodes_(nodes_ / centre_share) {
  total_gain_ = layer(model.layers - 1).gain;
  const int dimensions = 2 * (model.layers - 1);
  const std::size_t half = nodes_ / 2;
  const auto rows = static_cast<std::size_t>(dimensions);
  normals_.resize(node_sets * rows * nodes_);
  std::vector<double> quantiles(rows * half);
  for (std::size_t set = 0; set < node_sets; ++set) {
    numerics::scrambled_sobol(dimensions, options.seed, first_inner_scramble + set)
        ->points(0, half, quantiles);
    simd::normal_quantile(quantiles, quantiles);
    // Each node comes with its reflection.
    for (std::size_t row = 0; row < rows; ++row) {
      double* out = normals_.data() + (set * rows + row) * nodes_;
      for (std::size_t i = 0; i < half; ++i) {
        out[2 * i] = quantiles[row * half + i];
        out[2 * i + 1] = -quantiles[row * half + i];
      }
    }
  }
}

two_token::Layer TwoTokenPosterior::layer(int index) const {
  double gain = 1.0;
  for (int l = 0; l < index; ++l) gain *= 1.0 + model_.skip_of(l);
  return {model_.beta, index + 1 < model_.layers ? model_.skip_of(index) : 0.0, gain};
}

void TwoTokenPosterior::draw_nodes(std::size_t set, std::uint64_t sample_key,
                                   Workspace& work) const {
  const auto drawn = static_cast<std::size_t>(model_.layers - 1);
  const double* source = normals_.data() + set * drawn * 2 * nodes_;
  for (std::size_t l = 0; l < drawn; ++l, source += 2 * nodes_) {
    const double angle = 2.0 * std::numbers::pi * hashed_uniform(sample_key, l);
    two_token::rotate(std::cos(angle), std::sin(angle), source, source + nodes_,
                      work.prior[2 * l].data(), work.prior[2 * l + 1].data(), nodes_);
  }
}

/// Mix and stretch of B_{L-2} from the drawn fields below layer L-1 [smi 8].
void TwoTokenPosterior::push_through(const TwoTokenSample& sample, Workspace& work) const {
  const std::size_t n = work.n;
  std::fill_n(work.mix.begin(), n, 0.0);
  std::fill_n(work.stretch.begin(), n, 1.0);
  double* s1 = work.softmax.data();
  for (int index = 0; index + 2 < model_.layers; ++index) {
    const auto l = static_cast<std::size_t>(index);
    two_token::scores(layer(index), sample.omega[l], sample.deviation[l], work.fields[2 * l],
                      work.fields[2 * l + 1], work.mix.data(), work.stretch.data(),
                      work.minus.data(), s1, s1 + n, n);
    simd::sigmoid({s1, 2 * n}, {s1, 2 * n});
    two_token::advance(layer(index), s1, s1 + n, work.mix.data(), work.stretch.data(), n);
  }
}

/// z_L = B^{-1} h from the drawn fields.
void TwoTokenPosterior::solve_last(const TwoTokenSample& sample, Workspace& work) const {
  const std::size_t n = work.n;
  const auto inner = static_cast<std::size_t>(model_.layers - 2);
  const two_token::Layer top = layer(model_.layers - 2);
  double* s1 = work.softmax.data();
  two_token::scores(top, sample.omega[inner], sample.deviation[inner], work.fields[2 * inner],
                    work.fields[2 * inner + 1], work.mix.data(), work.stretch.data(),
                    work.minus.data(), s1, s1 + n, n);
  simd::sigmoid({s1, 2 * n}, {s1, 2 * n});
  two_token::solve_last(top, sample.h, sample.omega[inner + 1], sample.deviation[inner + 1],
                        work.minus.data(), s1, s1 + n, work.mix.data(), work.stretch.data(),
                        work.solution(), n);
}

/// Chooses signs of a layer's field and weighs them [smi 87]. `unchanged` becomes 0 where the given
/// sign is not on the centre's side.
void TwoTokenPosterior::fold(const TwoTokenSample& sample, std::size_t layer, two_token::Field zeta,
                             double* unchanged, Workspace& work) const {
  const std::size_t n = work.n;
  const bool last = layer + 1 == static_cast<std::size_t>(model_.layers);
  double* other = work.other[layer].data();
  two_token::fold(scaled_omega(sample, layer),
                  side_of(last ? sample.omega[layer] : work.laplace.centre()[layer]), zeta,
                  {work.folded[2 * layer].data(), work.folded[2 * layer + 1].data(), other,
                   work.centred[2 * layer].data(), work.centred[2 * layer + 1].data(),
                   work.side[layer].data(), unchanged},
                  n);
  simd::sigmoid({other, n}, {other, n});
}

/// The density of C over that of the prior, all signs of each, times exp(-shift) [smi 87]. With
/// `rescale` the shift is chosen here, and is 0 unless every node has a large density. Returns the
/// shift.
double TwoTokenPosterior::gaussian_ratio(bool rescale, double shift, Workspace& work) const {
  const std::size_t n = work.n;
  const LaplaceComponent& c = work.laplace.component();
  double* ratio = work.ratio.data();
  if (!is_usable(c)) {
    std::fill_n(ratio, n, 0.0);
    return shift;
  }
  const double share = std::log(static_cast<double>(centre_nodes_) / static_cast<double>(nodes_));
  std::vector<const double*> centred(c.mean.size());
  for (std::size_t j = 0; j < centred.size(); ++j) centred[j] = work.centred[j].data();
  two_token::log_ratio({c.slope.data(), c.offset, c.mean.size()}, log_top(c) + share,
                       centred.data(), ratio, n);
  for (std::size_t l = 0; 2 * l < centred.size(); ++l) {
    for (std::size_t i = 0; i < n; ++i) ratio[i] += work.side[l][i];
  }
  if (rescale) {
    double lowest = HUGE_VAL;
    for (std::size_t i = 0; i < n; ++i) {
      if (work.feasible[i] > 0.0) lowest = std::min(lowest, ratio[i]);
    }
    shift = lowest > rescale_above && lowest < HUGE_VAL ? lowest : 0.0;
  }
  for (std::size_t i = 0; i < n; ++i) ratio[i] = std::min(ratio[i] - shift, max_exponent);
  simd::exp({ratio, n}, {ratio, n});
  for (std::size_t l = 0; 2 * l < centred.size(); ++l) {
    for (std::size_t i = 0; i < n; ++i) ratio[i] *= 1.0 - work.other[l][i];
  }
  return shift;
}

/// Proposal A draws all inner fields from the prior.
void TwoTokenPosterior::propose_inner_fields(const TwoTokenSample& sample, Workspace& work,
                                             LayerSums& sums) const {
  const std::size_t n = work.n;
  const auto last = static_cast<std::size_t>(model_.layers - 1);
  solve_last(sample, work);
  for (std::size_t l = 0; l < last; ++l) {
    fold(sample, l, work.drawn(l), work.unchanged.data(), work);
  }
  fold(sample, last, work.solved(), work.unchanged.data(), work);
  sums.shift = shifted_exponentials(work.nearer(last), work.exp_last, n);
  shifted_exponentials(work.nearer(last - 1), work.exp_inner, n);
  gaussian_ratio(false, 0.0, work);
  collect(sample, 1.0, std::exp(-sums.shift), work, sums);
}

/// Proposal B draws the last field and inverts the softmax of layer L-1. The layers below are those
/// of A.
void TwoTokenPosterior::propose_last_field(const TwoTokenSample& sample, Workspace& work,
                                           LayerSums& sums) const {
  work.n = last_nodes_;
  const std::size_t n = work.n;
  const auto inner = static_cast<std::size_t>(model_.layers - 2);
  const two_token::Layer top = layer(model_.layers - 2);
  double* s1 = work.softmax.data();
  double* l1 = work.scores.data();
  two_token::invert_softmax(top, sample.h, sample.omega[inner + 1], sample.deviation[inner + 1],
                            work.fields[2 * inner], work.fields[2 * inner + 1], work.mix.data(),
                            work.stretch.data(), work.minus.data(), s1, s1 + n, l1, l1 + n,
                            work.solution(), n);
  simd::log({l1, 2 * n}, {l1, 2 * n});
  two_token::solve_inner(top, sample.omega[inner], sample.deviation[inner], work.minus.data(), s1,
                         s1 + n, l1, l1 + n, work.mix.data(), work.stretch.data(), work.solution(),
                         n);
  fold(sample, inner, work.solved(), work.unchanged.data(), work);
  fold(sample, inner + 1, work.drawn(inner), work.unchanged.data(), work);
  sums.shift = shifted_exponentials(work.nearer(inner), work.exp_inner, n);
  shifted_exponentials(work.nearer(inner + 1), work.exp_last, n);
  gaussian_ratio(false, sums.shift, work);
  collect(sample, std::exp(-sums.shift), 1.0, work, sums);
}

/// Proposal C draws all inner fields from the linearised posterior, on the centre's side only.
void TwoTokenPosterior::propose_near_centre(const TwoTokenSample& sample, Workspace& work,
                                            LayerSums& sums) const {
  const LaplaceComponent& component = work.laplace.component();
  const auto last = static_cast<std::size_t>(model_.layers - 1);
  work.use(work.near, centre_nodes_);
  const std::size_t n = work.n;
  for (std::size_t j = 0; j < work.near.size(); ++j) {
    std::copy_n(work.prior[j].begin(), n, work.near[j].begin());
  }
  two_token::draw({component.mean.data(), component.factor.data(), component.mean.size()},
                  work.fields.data(), n);
  push_through(sample, work);
  solve_last(sample, work);
  for (std::size_t l = 0; l < last; ++l) {
    fold(sample, l, work.drawn(l), work.feasible.data(), work);
  }
  fold(sample, last, work.solved(), work.unchanged.data(), work);

  sums.shift = shifted_exponentials(work.nearer(last), work.exp_last, n);
  const double ratio_shift = gaussian_ratio(true, 0.0, work);
  sums.shift += ratio_shift;
  const two_token::Field inner = work.nearer(last - 1);
  two_token::exponents(inner.plus, inner.minus, work.exp_inner.data(), n);
  for (std::size_t i = 0; i < n; ++i) work.exp_inner[i] -= sums.shift;
  simd::exp({work.exp_inner.data(), n}, {work.exp_inner.data(), n});
  // This stays above 0, so that an overflow of its factor remains infinite.
  const double one = std::max(std::exp(-ratio_shift), std::numeric_limits<double>::min());
  collect(sample, one, 1.0, work, sums);
}

/// Weights the proposal's nodes and adds them to the moments of every layer [smi 29].
void TwoTokenPosterior::collect(const TwoTokenSample& sample, double one, double inner_scale,
                                Workspace& work, LayerSums& sums) const {
  const auto last = static_cast<std::size_t>(model_.layers - 1);
  const double inner_share = static_cast<double>(last_nodes_) / static_cast<double>(nodes_);
  const auto variance = [&](std::size_t l) { return sample.deviation[l] * sample.deviation[l]; };
  two_token::weights(total_gain_, variance(last), one,
                     inner_share * variance(last - 1) * inner_scale,
                     {work.exp_last.data(), work.other[last].data(), work.exp_inner.data(),
                      work.other[last - 1].data(), work.ratio.data()},
                     work.stretch.data(), work.solution(), work.weight.data(), work.n);
  if (!work.coupling.empty()) {
    sum_over_signs(sample, work, sums);
    return;
  }
  for (std::size_t l = 0; l <= last; ++l) {
    const two_token::Field zeta = work.nearer(l);
    sums.layer[l] = batch_sums(work.n, [&](std::size_t first, std::size_t count) {
      return two_token::folded_moment_sums(work.weight.data() + first, work.other[l].data() + first,
                                           scaled_omega(sample, l),
                                           {zeta.plus + first, zeta.minus + first}, count);
    });
  }
  if (sums.cross.empty()) return;
  work.chosen.resize(last + 1);
  for (std::size_t l = 0; l <= last; ++l) {
    double* plus = work.mirrored[2 * l].data();
    double* minus = work.mirrored[2 * l + 1].data();
    two_token::sign_mean(scaled_omega(sample, l), work.other[l].data(), work.nearer(l), plus, minus,
                         work.n);
    work.chosen[l] = {plus, minus};
  }
  sum_products(work.weight, work, sums);
}

/// Adds the moments between layers from the fields that are chosen.
void TwoTokenPosterior::sum_products(const std::vector<double>& weight, const Workspace& work,
                                     LayerSums& sums) const {
  for (std::size_t k = 1; k < work.chosen.size(); ++k) {
    for (std::size_t l = 0; l < k; ++l) {
      sums.cross[FieldShape::direction_pair(k, l)] =
          two_token::product_sum(weight.data(), work.chosen[k], work.chosen[l], work.n);
    }
  }
}

/// The same where layers depend on one another: every choice of the signs that are open at all is a
/// node of its own.
void TwoTokenPosterior::sum_over_signs(const TwoTokenSample& sample, Workspace& work,
                                       LayerSums& sums) const {
  const std::size_t n = work.n;
  const auto layers = static_cast<std::size_t>(model_.layers);
  std::vector<std::size_t> open;
  work.chosen.resize(layers);
  for (std::size_t l = 0; l < layers; ++l) {
    work.chosen[l] = work.nearer(l);
    const auto end = work.other[l].begin() + static_cast<std::ptrdiff_t>(n);
    if (*std::max_element(work.other[l].begin(), end) < negligible_sign) continue;
    open.push_back(l);
    two_token::mirror(scaled_omega(sample, l), work.nearer(l), work.mirrored[2 * l].data(),
                      work.mirrored[2 * l + 1].data(), n);
  }
  LayerSums total(layers, sums.cross.size());
  for (std::size_t choice = 0; choice < std::size_t{1} << open.size(); ++choice) {
    std::copy_n(work.weight.begin(), n, work.signed_weight.begin());
    for (std::size_t k = 0; k < open.size(); ++k) {
      const std::size_t l = open[k];
      const bool mirrored = (choice >> k & 1u) != 0;
      const double* other = work.other[l].data();
      for (std::size_t i = 0; i < n; ++i) {
        work.signed_weight[i] *= mirrored ? other[i] : 1.0 - other[i];
      }
      if (mirrored)
        work.chosen[l] = {work.mirrored[2 * l].data(), work.mirrored[2 * l + 1].data()};
      else
        work.chosen[l] = work.nearer(l);
    }
    LayerSums part(layers, sums.cross.size());
    part.shift = sums.shift;
    if (!work.coupling.empty()) tilt(work, part);
    for (std::size_t l = 0; l < layers; ++l) {
      part.layer[l] = batch_sums(n, [&](std::size_t first, std::size_t count) {
        return two_token::moment_sums(work.signed_weight.data() + first,
                                      work.chosen[l].plus + first, work.chosen[l].minus + first,
                                      count);
      });
    }
    if (!part.cross.empty()) sum_products(work.signed_weight, work, part);
    total.merge(part);
  }
  sums = std::move(total);
}

/// Multiplies the weights of one choice of signs by exp(-zeta^T K zeta / 2) [smi 86].
void TwoTokenPosterior::tilt(Workspace& work, LayerSums& sums) const {
  const auto layers = static_cast<std::size_t>(model_.layers);
  const std::size_t n = work.n;
  double* exponent = work.exponent.data();
  std::fill_n(exponent, n, 0.0);
  for (std::size_t k = 0; k < layers; ++k) {
    for (std::size_t l = 0; l <= k; ++l) {
      const double factor = (k == l ? -0.5 : -1.0) * work.coupling[k * layers + l];
      two_token::add_product(factor, work.chosen[k], work.chosen[l], exponent, n);
    }
  }
  const double top = *std::max_element(exponent, exponent + n);
  if (top > rescale_above) {
    for (std::size_t i = 0; i < n; ++i) exponent[i] -= top;
    sums.shift -= top;
  }
  simd::exp({exponent, n}, {exponent, n});
  for (std::size_t i = 0; i < n; ++i) work.signed_weight[i] *= exponent[i];
}

void TwoTokenPosterior::moments(const PosteriorQuery& query, PosteriorMoments& out) const {
  const auto layers = static_cast<std::size_t>(model_.layers);
  const std::size_t count = query.count;
  Workspace work(model_, nodes_, centre_nodes_);
  TwoTokenSample sample;
  sample.omega.resize(layers);
  std::vector<Plane> centre(query.centre.empty() ? 0 : layers);
  for (const double v : query.variance) sample.deviation.push_back(std::sqrt(v));
  work.coupling = query.coupling;
  const std::size_t pairs = out.half[0].cross.empty() ? 0 : model_.shape().direction_pairs();
  const std::size_t block = (query.replicate % replicate_blocks) * sets_per_replicate;
  const double log_norm = -std::log(2.0 * std::numbers::pi * static_cast<double>(nodes_));
  const auto read = [count](std::span<const double> from, std::size_t i, std::vector<Plane>& to) {
    for (std::size_t l = 0; l < to.size(); ++l) {
      to[l] = rotate_tokens(from[2 * l * count + i], from[(2 * l + 1) * count + i]);
    }
  };

  for (std::size_t i = 0; i < count; ++i) {
    sample.h = rotate_tokens(query.label[i], query.label[count + i]);
    read(query.omega, i, sample.omega);
    read(query.centre, i, centre);
    work.laplace.build(sample, centre);
    const std::uint64_t id = query.first_sample + i;
    for (std::uint64_t e = 0; e < 2; ++e) {
      draw_nodes(block + (2 * id + e) % sets_per_replicate, (query.replicate << 40) + 2 * id + e,
                 work);
      work.use(work.prior, nodes_);
      push_through(sample, work);
      LayerSums sums(layers, pairs);
      LayerSums inner_solved(layers, pairs);
      LayerSums near_centre(layers, pairs);
      propose_inner_fields(sample, work, sums);
      propose_last_field(sample, work, inner_solved);
      sums.merge(inner_solved);
      if (is_usable(work.laplace.component())) {
        propose_near_centre(sample, work, near_centre);
        sums.merge(near_centre);
      }

      PosteriorMoments::Half& half = out.half[e];
      half.log_z[i] = log_norm - sums.shift + std::log(sums.weight());
      for (std::size_t l = 0; l < layers; ++l) {
        const std::size_t mean = 2 * l * count + i;
        const std::size_t second = 3 * l * count + i;
        store_unrotated(sums.layer[l].all, &half.mean[mean], &half.second[second], count);
        store_unrotated(biases(sums.layer[l]), &half.mean_bias[mean], &half.second_bias[second],
                        count);
      }
      for (std::size_t k = 0; k < pairs; ++k) {
        half.cross[k * count + i] = sums.cross[k] / sums.weight();
      }
    }
  }
}

}  // namespace onset::smi
