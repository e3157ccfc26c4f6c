#include "smi/model/two_token_posterior.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "onset/numerics/quasi_monte_carlo.hpp"
#include "onset/numerics/simd/vector_math.hpp"
#include "smi/model/node_sets.hpp"

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

/// B has the nodes of A divided by the first of these, each component of C by the second: with C
/// beside them, two layers are then as accurate as with equal A and B, at 1.1 to 1.4 times the
/// cost.
constexpr std::size_t last_share = 2;
constexpr std::size_t centre_share = 4;

Plane rotate_tokens(double first, double second) {
  constexpr double half_sqrt2 = 0.5 * std::numbers::sqrt2;
  return {(first + second) * half_sqrt2, (first - second) * half_sqrt2};
}

/// Weighted sums of one layer: 1, p, m, p p, p m, m m.
using PlaneSums = std::array<double, 6>;

two_token::Gaussian gaussian(const LaplaceComponent& c) {
  return {c.mean.data(), c.factor.data(), c.mean.size()};
}

/// exp(|zeta|^2 / 2 - shift) of the solved field, both signs; returns the shift, which is 0 unless
/// every exponent is large.
double shifted_exponentials(const two_token::Solution& solution, double* out, std::size_t n) {
  const double lowest = two_token::exponents(solution.plus, solution.minus, out, 2 * n);
  const double shift = lowest > rescale_above ? lowest : 0.0;
  if (shift > 0.0) {
    for (std::size_t i = 0; i < 2 * n; ++i) out[i] -= shift;
  }
  simd::exp({out, 2 * n}, {out, 2 * n});
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

/// Sums over nodes of every layer's moments, in units of exp(-shift); of pairs of layers too if
/// wanted.
struct TwoTokenPosterior::LayerSums {
  LayerSums(std::size_t layers, std::size_t pairs) : layer(layers, PlaneSums{}), cross(pairs) {}

  void merge(const LayerSums& other) {
    // A proposal without weight has no scale: its shift of 0 would make the other underflow.
    if (!(other.layer[0][0] > 0.0)) return;
    if (!(layer[0][0] > 0.0)) {
      *this = other;
      return;
    }
    const double low = std::min(shift, other.shift);
    const double mine = std::exp(low - shift);
    const double theirs = std::exp(low - other.shift);
    for (std::size_t l = 0; l < layer.size(); ++l) {
      for (std::size_t k = 0; k < layer[l].size(); ++k) {
        layer[l][k] = mine * layer[l][k] + theirs * other.layer[l][k];
      }
    }
    for (std::size_t k = 0; k < cross.size(); ++k) {
      cross[k] = mine * cross[k] + theirs * other.cross[k];
    }
    shift = low;
  }

  std::vector<PlaneSums> layer;
  std::vector<double> cross;  // p p' + m m'
  double shift = 0.0;
};

/// Arrays over nodes, reused from sample to sample; pairs of arrays lie end to end. Of every array
/// the first n (or 2n) entries are in use.
struct TwoTokenPosterior::Workspace {
  using Array = std::vector<double>;

  Workspace(const DeepAttention& model, std::size_t nodes, std::size_t most_centre_nodes)
      : laplace(model) {
    const auto drawn = 2 * static_cast<std::size_t>(model.layers - 1);
    const std::size_t most = std::max(nodes, most_centre_nodes);
    prior.assign(drawn, Array(nodes));
    near.assign(drawn, Array(most_centre_nodes));
    for (Array* a : {&exp_drawn, &mix, &stretch, &minus, &lambda, &jacobian, &feasible, &weight_sum,
                     &component_ratio}) {
      a->resize(most);
    }
    for (Array* a : {&softmax, &scores, &weight, &solved_plus, &solved_minus, &ratio, &tilt}) {
      a->resize(2 * most);
    }
    fields.resize(drawn);
  }

  /// Makes these the fields that proposals draw, `count` nodes of each.
  void use(std::vector<Array>& arrays, std::size_t count) {
    n = count;
    for (std::size_t j = 0; j < arrays.size(); ++j) fields[j] = arrays[j].data();
  }

  /// The field of a layer at the nodes of one sign, if the layer `solved` is not drawn but solved.
  [[nodiscard]] two_token::Field field(std::size_t layer, std::size_t solved, std::size_t sign) {
    if (layer == solved) return {solved_plus.data() + sign * n, solved_minus.data() + sign * n};
    // Where the last layer is drawn it lies in the place of the solved one.
    const std::size_t at = std::min(layer, fields.size() / 2 - 1);
    return {fields[2 * at], fields[2 * at + 1]};
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
  Array exp_drawn;                   // exp(|zeta|^2 / 2) of the last drawn field
  Array mix, stretch;                // R and Lambda of B_{L-2} [smi 8]
  Array minus;                       // u_minus of layer L-1 (A, C) or z_minus of layer L (B)
  Array lambda, jacobian, feasible;
  Array softmax;                    // s1, then s2
  Array scores;                     // l1, then l2; later the exponents of the two signs
  Array solved_plus, solved_minus;  // the solved field as zeta, both signs
  Array ratio, component_ratio;     // density of C over that of A
  Array weight, weight_sum;
  Array tilt;  // -zeta^T K zeta / 2, both signs, then its exponential
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
    // Each node with its reflection: odd moments of a field that is not yet learned vanish exactly,
    // so that E|g|^2 is proportional to its overlap down to overlap 0.
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
                      work.prior[2 * l].data(), work.prior[2 * l + 1].data(), work.exp_drawn.data(),
                      nodes_);
  }
  simd::exp({work.exp_drawn.data(), nodes_},
            {work.exp_drawn.data(), nodes_});  // of the last drawn field
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

/// z_L = +- B^{-1} h from the drawn fields.
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

/// Density of C over that of the prior at n nodes, times exp(-shift) [smi 28].
void TwoTokenPosterior::gaussian_ratio(Workspace& work, double shift, double* out) const {
  const std::size_t n = work.n;
  const double share = std::log(static_cast<double>(centre_nodes_) / static_cast<double>(nodes_));
  double* target = out;
  for (const LaplaceComponent& c : work.laplace.components()) {
    two_token::log_ratio(gaussian(c), c.log_determinant + share - shift, work.fields.data(), target,
                         n);
    simd::exp({target, n}, {target, n});
    if (target != out) {
      for (std::size_t i = 0; i < n; ++i) out[i] += target[i];
    }
    target = work.component_ratio.data();
  }
}

/// Proposal A: all inner fields drawn from the prior.
void TwoTokenPosterior::propose_inner_fields(const TwoTokenSample& sample, Workspace& work,
                                             LayerSums& sums) const {
  const std::size_t n = work.n;
  solve_last(sample, work);
  double* exp_last = work.scores.data();
  sums.shift = shifted_exponentials(work.solution(), exp_last, n);
  double* ratio = work.ratio.data();
  gaussian_ratio(work, 0.0, ratio);
  const double* drawn = work.exp_drawn.data();
  collect(sample, {{exp_last, exp_last + n}, {ratio, ratio}, {drawn, drawn}}, 1.0,
          std::exp(-sums.shift), true, work, sums);
}

/// Proposal B: the last field drawn; the softmax of layer L-1 inverted.
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
  double* exp_inner = work.scores.data();
  sums.shift = shifted_exponentials(work.solution(), exp_inner, n);
  double* ratio = work.ratio.data();
  double* drawn[] = {work.fields[2 * inner], work.fields[2 * inner + 1]};
  for (std::size_t sign = 0; sign < 2; ++sign) {
    work.fields[2 * inner] = work.solved_plus.data() + sign * n;
    work.fields[2 * inner + 1] = work.solved_minus.data() + sign * n;
    gaussian_ratio(work, sums.shift, ratio + sign * n);
  }
  std::copy_n(drawn, 2, work.fields.data() + 2 * inner);
  const double* exp_last = work.exp_drawn.data();
  collect(sample, {{exp_last, exp_last}, {ratio, ratio + n}, {exp_inner, exp_inner + n}},
          std::exp(-sums.shift), 1.0, false, work, sums);
}

/// Proposal C: all inner fields drawn from the linearised posterior. The mirror images get the
/// mirrored normals, so that odd moments of a field that is not yet learned vanish here too.
void TwoTokenPosterior::propose_near_centre(const TwoTokenSample& sample, Workspace& work,
                                            LayerSums& sums) const {
  const auto components = work.laplace.components();
  const std::size_t m = centre_nodes_;
  std::vector<double*> block(work.near.size());
  for (std::size_t k = 0; k < components.size(); ++k) {
    for (std::size_t j = 0; j < block.size(); ++j) {
      block[j] = work.near[j].data() + k * m;
      const double sign = (components[k].reflected >> (j / 2)) & 1u ? -1.0 : 1.0;
      for (std::size_t i = 0; i < m; ++i) block[j][i] = sign * work.prior[j][i];
    }
    two_token::draw(gaussian(components[k]), block.data(), m);
  }
  work.use(work.near, m * components.size());
  const std::size_t n = work.n;
  push_through(sample, work);
  solve_last(sample, work);

  double* exp_last = work.scores.data();
  sums.shift = shifted_exponentials(work.solution(), exp_last, n);
  double* ratio = work.ratio.data();
  two_token::log_ratio(gaussian(components[0]), components[0].log_determinant, work.fields.data(),
                       ratio, m);
  const double lowest = *std::min_element(ratio, ratio + m);
  const double ratio_shift = lowest > rescale_above ? lowest : 0.0;
  gaussian_ratio(work, ratio_shift, ratio);
  sums.shift += ratio_shift;
  const std::size_t inner = work.fields.size() - 2;
  double* exp_inner = work.component_ratio.data();
  two_token::exponents(work.fields[inner], work.fields[inner + 1], exp_inner, n);
  for (std::size_t i = 0; i < n; ++i) exp_inner[i] -= sums.shift;
  simd::exp({exp_inner, n}, {exp_inner, n});
  // Above 0, so that an overflow of its factor stays one.
  const double one = std::max(std::exp(-ratio_shift), std::numeric_limits<double>::min());
  collect(sample, {{exp_last, exp_last + n}, {ratio, ratio}, {exp_inner, exp_inner}}, one, 1.0,
          true, work, sums);
}

/// Multiplies the weights by exp(-zeta^T K zeta / 2) [smi 86].
void TwoTokenPosterior::tilt(Workspace& work, std::size_t solved, LayerSums& sums) const {
  const auto layers = static_cast<std::size_t>(model_.layers);
  const std::size_t n = work.n;
  for (std::size_t sign = 0; sign < 2; ++sign) {
    double* exponent = work.tilt.data() + sign * n;
    std::fill_n(exponent, n, 0.0);
    for (std::size_t k = 0; k < layers; ++k) {
      for (std::size_t l = 0; l <= k; ++l) {
        const double factor = (k == l ? -0.5 : -1.0) * work.coupling[k * layers + l];
        two_token::add_product(factor, work.field(k, solved, sign), work.field(l, solved, sign),
                               exponent, n);
      }
    }
  }
  const double top =
      *std::max_element(work.tilt.begin(), work.tilt.begin() + std::ptrdiff_t(2 * n));
  if (top > rescale_above) {
    for (std::size_t i = 0; i < 2 * n; ++i) work.tilt[i] -= top;
    sums.shift -= top;
  }
  simd::exp({work.tilt.data(), 2 * n}, {work.tilt.data(), 2 * n});
  two_token::scale(work.tilt.data(), work.weight.data(), work.weight_sum.data(), n);
}

/// Weights the proposal's nodes and adds them to the moments of every layer [smi 29].
void TwoTokenPosterior::collect(const TwoTokenSample& sample, const two_token::WeightTerms& terms,
                                double one, double inner_scale, bool last_is_solved,
                                Workspace& work, LayerSums& sums) const {
  const auto last = static_cast<std::size_t>(model_.layers - 1);
  const std::size_t solved = last_is_solved ? last : last - 1;
  const std::size_t drawn = last_is_solved ? last - 1 : last;
  const double inner_share = static_cast<double>(last_nodes_) / static_cast<double>(nodes_);
  const auto variance = [&](std::size_t l) { return sample.deviation[l] * sample.deviation[l]; };
  two_token::weights(total_gain_, variance(last), one,
                     inner_share * variance(last - 1) * inner_scale, terms, work.stretch.data(),
                     work.solution(), work.weight.data(), work.weight_sum.data(), work.n);
  if (!work.coupling.empty()) tilt(work, solved, sums);
  sums.layer[solved] = two_token::moment_sums(work.weight.data(), work.solved_plus.data(),
                                              work.solved_minus.data(), 2 * work.n);
  for (std::size_t k = 0; k < last; ++k) {
    sums.layer[k + 1 == last ? drawn : k] = two_token::moment_sums(
        work.weight_sum.data(), work.fields[2 * k], work.fields[2 * k + 1], work.n);
  }
  if (sums.cross.empty()) return;
  for (std::size_t k = 1; k <= last; ++k) {
    for (std::size_t l = 0; l < k; ++l) {
      double sum = 0.0;
      for (std::size_t sign = 0; sign < 2; ++sign) {
        sum +=
            two_token::product_sum(work.weight.data() + sign * work.n, work.field(k, solved, sign),
                                   work.field(l, solved, sign), work.n);
      }
      sums.cross[FieldShape::direction_pair(k, l)] = sum;
    }
  }
}

void TwoTokenPosterior::moments(const PosteriorQuery& query, PosteriorMoments& out) const {
  const auto layers = static_cast<std::size_t>(model_.layers);
  const std::size_t count = query.count;
  Workspace work(model_, nodes_, LaplaceProposal::most(model_.layers) * centre_nodes_);
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
      propose_near_centre(sample, work, near_centre);
      sums.merge(inner_solved);
      sums.merge(near_centre);

      PosteriorMoments::Half& half = out.half[e];
      half.log_z[i] = log_norm - sums.shift + std::log(sums.layer[0][0]);
      for (std::size_t l = 0; l < layers; ++l) {
        store_unrotated(sums.layer[l], half.mean.data() + 2 * l * count + i,
                        half.second.data() + 3 * l * count + i, count);
      }
      for (std::size_t k = 0; k < pairs; ++k) {
        half.cross[k * count + i] = sums.cross[k] / sums.layer[0][0];
      }
    }
  }
}

}  // namespace onset::smi
