#include "smi/model/two_token_posterior.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "onset/numerics/quasi_monte_carlo.hpp"
#include "onset/numerics/simd/vector_math.hpp"

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

Plane rotate_tokens(double first, double second) {
  constexpr double half_sqrt2 = 0.5 * std::numbers::sqrt2;
  return {(first + second) * half_sqrt2, (first - second) * half_sqrt2};
}

/// A uniform number in [0, 1) that depends on its two keys only (SplitMix64 finaliser).
double hashed_uniform(std::uint64_t key, std::uint64_t salt) {
  std::uint64_t x = key + 0x9e3779b97f4a7c15ULL * (salt + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-53;
}

/// Weighted sums of one layer: 1, p, m, p p, p m, m m.
using PlaneSums = std::array<double, 6>;

void add(PlaneSums& sums, const PlaneSums& more) {
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += more[k];
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

/// One sample's question, tokens rotated.
struct TwoTokenPosterior::Sample {
  Plane h;
  std::vector<Plane> omega;
  std::vector<double> deviation;  // sqrt V_l
};

/// Sums over nodes of every layer's moments, in units of exp(-shift).
struct TwoTokenPosterior::LayerSums {
  explicit LayerSums(std::size_t layers) : layer(layers, PlaneSums{}) {}

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
    shift = low;
  }

  std::vector<PlaneSums> layer;
  double shift = 0.0;
};

/// Arrays over nodes, reused from sample to sample; pairs of arrays lie end to end.
struct TwoTokenPosterior::Workspace {
  using Array = std::vector<double>;

  Workspace(int layers, std::size_t nodes)
      : eta_plus(static_cast<std::size_t>(layers - 1), Array(nodes)),
        eta_minus(static_cast<std::size_t>(layers - 1), Array(nodes)) {
    for (Array* a :
         {&exp_drawn, &mix, &stretch, &minus, &lambda, &jacobian, &feasible, &weight_sum}) {
      a->resize(nodes);
    }
    for (Array* a : {&softmax, &scores, &weight, &solved_plus, &solved_minus}) {
      a->resize(2 * nodes);
    }
  }

  [[nodiscard]] two_token::Solution solution() {
    return {solved_plus.data(), solved_minus.data(), lambda.data(), jacobian.data(),
            feasible.data()};
  }

  std::vector<Array> eta_plus, eta_minus;  // standard normals of the drawn fields
  Array exp_drawn;                         // exp(|eta|^2 / 2) of the last drawn field
  Array mix, stretch;                      // R and Lambda of B_{L-2} [smi 8]
  Array minus;                             // u_minus of layer L-1 (A) or z_minus of layer L (B)
  Array lambda, jacobian, feasible;
  Array softmax;                    // s1, then s2
  Array scores;                     // l1, then l2; later the exponents of the two signs
  Array solved_plus, solved_minus;  // the solved field as zeta, both signs
  Array weight, weight_sum;
};

TwoTokenPosterior::TwoTokenPosterior(const DeepAttention& model, const PosteriorOptions& options)
    : model_(model), nodes_(static_cast<std::size_t>(options.nodes)) {
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
        out[i] = quantiles[row * half + i];
        out[half + i] = -quantiles[row * half + i];
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
                      work.eta_plus[l].data(), work.eta_minus[l].data(), work.exp_drawn.data(),
                      nodes_);
  }
  simd::exp(work.exp_drawn, work.exp_drawn);  // of the last drawn field
}

/// Mix and stretch of B_{L-2}: both proposals draw the fields below layer L-1 [smi 8].
void TwoTokenPosterior::push_through(const Sample& sample, Workspace& work) const {
  std::fill(work.mix.begin(), work.mix.end(), 0.0);
  std::fill(work.stretch.begin(), work.stretch.end(), 1.0);
  for (int index = 0; index + 2 < model_.layers; ++index) {
    const auto l = static_cast<std::size_t>(index);
    two_token::scores(layer(index), sample.omega[l], sample.deviation[l], work.eta_plus[l].data(),
                      work.eta_minus[l].data(), work.mix.data(), work.stretch.data(),
                      work.minus.data(), work.softmax.data(), work.softmax.data() + nodes_, nodes_);
    simd::sigmoid(work.softmax, work.softmax);
    two_token::advance(layer(index), work.softmax.data(), work.softmax.data() + nodes_,
                       work.mix.data(), work.stretch.data(), nodes_);
  }
}

/// Proposal A: all inner fields drawn; z_L = +- B^{-1} h.
void TwoTokenPosterior::propose_inner_fields(const Sample& sample, Workspace& work,
                                             LayerSums& sums) const {
  const auto inner = static_cast<std::size_t>(model_.layers - 2);
  const two_token::Layer top = layer(model_.layers - 2);
  double* s1 = work.softmax.data();
  double* s2 = s1 + nodes_;
  two_token::scores(top, sample.omega[inner], sample.deviation[inner], work.eta_plus[inner].data(),
                    work.eta_minus[inner].data(), work.mix.data(), work.stretch.data(),
                    work.minus.data(), s1, s2, nodes_);
  simd::sigmoid(work.softmax, work.softmax);
  two_token::solve_last(top, sample.h, sample.omega[inner + 1], sample.deviation[inner + 1],
                        work.minus.data(), s1, s2, work.mix.data(), work.stretch.data(),
                        work.solution(), nodes_);
  weigh(sample, true, work, sums);
}

/// Proposal B: the last field drawn; the softmax of layer L-1 inverted.
void TwoTokenPosterior::propose_last_field(const Sample& sample, Workspace& work,
                                           LayerSums& sums) const {
  const auto inner = static_cast<std::size_t>(model_.layers - 2);
  const two_token::Layer top = layer(model_.layers - 2);
  double* s1 = work.softmax.data();
  double* s2 = s1 + nodes_;
  double* l1 = work.scores.data();
  double* l2 = l1 + nodes_;
  two_token::invert_softmax(top, sample.h, sample.omega[inner + 1], sample.deviation[inner + 1],
                            work.eta_plus[inner].data(), work.eta_minus[inner].data(),
                            work.mix.data(), work.stretch.data(), work.minus.data(), s1, s2, l1, l2,
                            work.solution(), nodes_);
  simd::log(work.scores, work.scores);
  two_token::solve_inner(top, sample.omega[inner], sample.deviation[inner], work.minus.data(), s1,
                         s2, l1, l2, work.mix.data(), work.stretch.data(), work.solution(), nodes_);
  weigh(sample, false, work, sums);
}

/// Weights the proposal's nodes and adds them to the moments of every layer [smi 11].
void TwoTokenPosterior::weigh(const Sample& sample, bool last_is_solved, Workspace& work,
                              LayerSums& sums) const {
  const double lowest = two_token::exponents(work.solved_plus.data(), work.solved_minus.data(),
                                             work.scores.data(), 2 * nodes_);
  if (lowest > rescale_above) {
    sums.shift = lowest;
    for (double& e : work.scores) e -= lowest;
  }
  simd::exp(work.scores, work.scores);

  const auto last = static_cast<std::size_t>(model_.layers - 1);
  const std::size_t solved = last_is_solved ? last : last - 1;
  const std::size_t drawn = last_is_solved ? last - 1 : last;
  const auto variance = [&](std::size_t l) { return sample.deviation[l] * sample.deviation[l]; };
  two_token::weights(total_gain_, variance(solved), variance(drawn) * std::exp(-sums.shift),
                     last_is_solved, work.stretch.data(), work.scores.data(), work.exp_drawn.data(),
                     work.solution(), work.weight.data(), work.weight_sum.data(), nodes_);

  add(sums.layer[solved], two_token::moment_sums(work.weight.data(), work.solved_plus.data(),
                                                 work.solved_minus.data(), 2 * nodes_));
  for (std::size_t k = 0; k + 1 < sums.layer.size(); ++k) {
    const std::size_t target = k + 2 == sums.layer.size() ? drawn : k;
    add(sums.layer[target], two_token::moment_sums(work.weight_sum.data(), work.eta_plus[k].data(),
                                                   work.eta_minus[k].data(), nodes_));
  }
}

void TwoTokenPosterior::moments(const PosteriorQuery& query, PosteriorMoments& out) const {
  const auto layers = static_cast<std::size_t>(model_.layers);
  const std::size_t count = query.count;
  Workspace work(model_.layers, nodes_);
  Sample sample;
  sample.omega.resize(layers);
  for (const double v : query.variance) sample.deviation.push_back(std::sqrt(v));
  const std::size_t block = (query.replicate % replicate_blocks) * sets_per_replicate;
  const double log_norm = -std::log(2.0 * std::numbers::pi * static_cast<double>(nodes_));

  for (std::size_t i = 0; i < count; ++i) {
    sample.h = rotate_tokens(query.label[i], query.label[count + i]);
    for (std::size_t l = 0; l < layers; ++l) {
      sample.omega[l] =
          rotate_tokens(query.omega[2 * l * count + i], query.omega[(2 * l + 1) * count + i]);
    }
    const std::uint64_t id = query.first_sample + i;
    for (std::uint64_t e = 0; e < 2; ++e) {
      draw_nodes(block + (2 * id + e) % sets_per_replicate, (query.replicate << 40) + 2 * id + e,
                 work);
      push_through(sample, work);
      LayerSums sums(layers);
      LayerSums inner_solved(layers);
      propose_inner_fields(sample, work, sums);
      propose_last_field(sample, work, inner_solved);
      sums.merge(inner_solved);

      PosteriorMoments::Half& half = out.half[e];
      half.log_z[i] = log_norm - sums.shift + std::log(sums.layer[0][0]);
      for (std::size_t l = 0; l < layers; ++l) {
        store_unrotated(sums.layer[l], half.mean.data() + 2 * l * count + i,
                        half.second.data() + 3 * l * count + i, count);
      }
    }
  }
}

}  // namespace onset::smi
