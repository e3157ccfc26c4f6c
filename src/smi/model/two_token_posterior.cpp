#include "smi/model/two_token_posterior.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "onset/numerics/quasi_monte_carlo.hpp"
#include "onset/numerics/random.hpp"
#include "onset/numerics/simd/vector_math.hpp"

namespace onset::smi {
namespace {

namespace simd = numerics::simd;
using std::numbers::pi;

/// Node sets are shared by samples after a random rotation. Too few put a floor under the error
/// that more samples cannot lower; replicates draw from disjoint blocks, so their scatter shows it.
constexpr std::size_t sets_per_replicate = 64;
constexpr std::size_t replicate_blocks = 16;
constexpr std::size_t node_sets = sets_per_replicate * replicate_blocks;

/// Beyond this exponent weights are rescaled, so that a sample whose nodes are all far off keeps a
/// finite log Z instead of 0/0.
constexpr double rescale_above = 300.0;

/// Keeps a vanishing eigenvalue (skip 0) out of 0/0; its weight underflows to 0 all the same.
constexpr double smallest_lambda = 1e-18;

/// Keeps u_minus = 0 (a feasible edge after rounding) out of 0/0; its weight underflows to 0.
constexpr double smallest_score = 1e-200;

/// Partial sums with a fixed number of lanes: vectorises without fast-math, same bits everywhere.
constexpr std::size_t lanes = 8;

struct PlaneMoments {
  double weight = 0.0;
  std::array<double, 2> first{};   // plus, minus
  std::array<double, 3> second{};  // plus plus, plus minus, minus minus
  double fourth = 0.0;

  void add(const double* w, const double* p, const double* m, std::size_t n) {
    std::array<std::array<double, lanes>, 7> sum{};
    for (std::size_t i = 0; i < n; i += lanes) {
      for (std::size_t k = 0; k < lanes; ++k) {
        const double wp = w[i + k] * p[i + k];
        const double wm = w[i + k] * m[i + k];
        sum[0][k] += w[i + k];
        sum[1][k] += wp;
        sum[2][k] += wm;
        const double wpp = wp * p[i + k];
        const double wmm = wm * m[i + k];
        sum[3][k] += wpp;
        sum[4][k] += wp * m[i + k];
        sum[5][k] += wmm;
        sum[6][k] += (wpp + wmm) * (p[i + k] * p[i + k] + m[i + k] * m[i + k]);
      }
    }
    const auto total = [&](std::size_t row) {
      double s = 0.0;
      for (std::size_t k = 0; k < lanes; ++k) s += sum[row][k];
      return s;
    };
    weight += total(0);
    for (std::size_t k = 0; k < 2; ++k) first[k] += total(1 + k);
    for (std::size_t k = 0; k < 3; ++k) second[k] += total(3 + k);
    fourth += total(6);
  }

  void merge(double mine, const PlaneMoments& other, double theirs) {
    weight = mine * weight + theirs * other.weight;
    for (std::size_t k = 0; k < 2; ++k) first[k] = mine * first[k] + theirs * other.first[k];
    for (std::size_t k = 0; k < 3; ++k) second[k] = mine * second[k] + theirs * other.second[k];
    fourth = mine * fourth + theirs * other.fourth;
  }
};

struct Plane {
  double plus;
  double minus;
};

Plane rotate_tokens(double first, double second) {
  return {(first + second) * (0.5 * std::numbers::sqrt2),
          (first - second) * (0.5 * std::numbers::sqrt2)};
}

/// Writes the moments back in the basis of the two tokens; rows are `count` apart.
void store_unrotated(const PlaneMoments& sums, double z, double* mean, double* second,
                     std::size_t count) {
  const double p = sums.first[0] / z;
  const double m = sums.first[1] / z;
  const double pp = sums.second[0] / z;
  const double pm = sums.second[1] / z;
  const double mm = sums.second[2] / z;
  const Plane tokens = rotate_tokens(p, m);
  mean[0] = tokens.plus;
  mean[count] = tokens.minus;
  second[0] = 0.5 * (pp + mm) + pm;
  second[count] = 0.5 * (pp - mm);
  second[2 * count] = 0.5 * (pp + mm) - pm;
}

/// A uniform number in [0, 1) that depends on its two keys only (SplitMix64 finaliser).
double hashed_uniform(std::uint64_t key, std::uint64_t salt) {
  std::uint64_t x = key + 0x9e3779b97f4a7c15ULL * (salt + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-53;
}

}  // namespace

/// One sample's question, tokens rotated.
struct TwoTokenPosterior::Sample {
  Plane h;
  std::vector<Plane> omega;
  std::vector<double> deviation;  // sqrt V_l
};

/// Sums over nodes of every layer's moments, in units of exp(-shift).
struct TwoTokenPosterior::LayerMoments {
  explicit LayerMoments(std::size_t layers) : layer(layers) {}

  void merge(const LayerMoments& other) {
    const double low = std::min(shift, other.shift);
    const double mine = std::exp(low - shift);
    const double theirs = std::exp(low - other.shift);
    for (std::size_t l = 0; l < layer.size(); ++l) layer[l].merge(mine, other.layer[l], theirs);
    shift = low;
  }

  std::vector<PlaneMoments> layer;
  double shift = 0.0;
};

/// Arrays over nodes, reused from sample to sample.
struct TwoTokenPosterior::Workspace {
  using Array = std::vector<double>;

  Workspace(int layers, std::size_t nodes)
      : eta_plus(static_cast<std::size_t>(layers - 1), Array(nodes)),
        eta_minus(static_cast<std::size_t>(layers - 1), Array(nodes)) {
    for (Array* a : {&growth_last, &mix, &stretch, &field_plus, &field_minus, &score_minus, &lambda,
                     &jacobian, &weight_sum, &feasible}) {
      a->resize(nodes);
    }
    for (Array* a : {&sigmoid, &exponent, &weight, &solved_plus, &solved_minus}) {
      a->resize(2 * nodes);
    }
  }

  std::vector<Array> eta_plus, eta_minus;  // standard normals of the drawn fields
  Array growth_last;                       // exp(|eta|^2 / 2) of the last drawn field
  Array mix, stretch;                      // R and Lambda of B_{L-2} [smi 8]
  Array field_plus, field_minus;           // fields on their way through a layer
  Array score_minus;                       // u_minus of layer L-1
  Array lambda, jacobian, feasible;
  Array sigmoid;                    // s1 for all nodes, then s2
  Array exponent, weight;           // for both signs of the solved field
  Array solved_plus, solved_minus;  // the solved field (as zeta) for both signs
  Array weight_sum;                 // weight summed over the two signs
  double shift = 0.0;
};

TwoTokenPosterior::TwoTokenPosterior(const DeepAttention& model, const PosteriorOptions& options)
    : model_(model), nodes_(static_cast<std::size_t>(options.nodes)) {
  const int dims = 2 * (model.layers - 1);
  const std::size_t half = nodes_ / 2;
  const auto rows = static_cast<std::size_t>(dims);
  normals_.resize(node_sets * rows * nodes_);
  std::vector<double> uniforms(rows * half);
  for (std::size_t set = 0; set < node_sets; ++set) {
    numerics::scrambled_sobol(dims, options.seed, (std::uint64_t{1} << 40) + set)
        ->points(0, half, uniforms);
    simd::normal_quantile(uniforms, uniforms);
    // Each node with its reflection: odd moments of a field that is not yet learned vanish exactly,
    // so that E|g|^2 is proportional to its overlap down to overlap 0.
    for (std::size_t row = 0; row < rows; ++row) {
      double* out = normals_.data() + (set * rows + row) * nodes_;
      for (std::size_t i = 0; i < half; ++i) {
        out[i] = uniforms[row * half + i];
        out[half + i] = -uniforms[row * half + i];
      }
    }
  }
}

void TwoTokenPosterior::draw_nodes(std::size_t set, std::uint64_t sample_key,
                                   Workspace& work) const {
  const auto drawn = static_cast<std::size_t>(model_.layers - 1);
  const double* source = normals_.data() + set * drawn * 2 * nodes_;
  for (std::size_t l = 0; l < drawn; ++l, source += 2 * nodes_) {
    const double angle = 2.0 * pi * hashed_uniform(sample_key, l);
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    for (std::size_t i = 0; i < nodes_; ++i) {
      const double a = source[i];
      const double b = source[nodes_ + i];
      work.eta_plus[l][i] = c * a - s * b;
      work.eta_minus[l][i] = s * a + c * b;
    }
  }
  const auto& p = work.eta_plus.back();
  const auto& m = work.eta_minus.back();
  for (std::size_t i = 0; i < nodes_; ++i) work.growth_last[i] = 0.5 * (p[i] * p[i] + m[i] * m[i]);
  simd::exp(work.growth_last, work.growth_last);
}

/// Mix R and stretch Lambda of B_{L-2}: both proposals draw the fields below layer L-1 [smi 8].
void TwoTokenPosterior::push_through(const Sample& sample, Workspace& work) const {
  std::fill(work.mix.begin(), work.mix.end(), 0.0);
  std::fill(work.stretch.begin(), work.stretch.end(), 1.0);
  double gain = 1.0;
  for (int layer = 0; layer + 2 < model_.layers; ++layer) {
    const auto l = static_cast<std::size_t>(layer);
    const double c = model_.skip_of(layer);
    for (std::size_t i = 0; i < nodes_; ++i) {
      const double p = sample.omega[l].plus + sample.deviation[l] * work.eta_plus[l][i];
      const double m = sample.omega[l].minus + sample.deviation[l] * work.eta_minus[l][i];
      const double up = gain * p + work.mix[i] * m;
      const double um = work.stretch[i] * m;
      work.sigmoid[i] = model_.beta * (um * um + up * um);
      work.sigmoid[nodes_ + i] = model_.beta * (um * um - up * um);
    }
    simd::sigmoid(work.sigmoid, work.sigmoid);
    for (std::size_t i = 0; i < nodes_; ++i) {
      const double s1 = work.sigmoid[i];
      const double s2 = work.sigmoid[nodes_ + i];
      work.mix[i] = (1.0 + c) * work.mix[i] + (s1 - s2) * work.stretch[i];
      work.stretch[i] *= std::max(s1 + s2 - 1.0 + c, smallest_lambda);
    }
    gain *= 1.0 + c;
  }
}

/// Proposal A: all inner fields drawn; z_L = +- B^{-1} h.
void TwoTokenPosterior::propose_inner_fields(const Sample& sample, Workspace& work) const {
  const auto inner = static_cast<std::size_t>(model_.layers - 2);
  const double c = model_.skip_of(model_.layers - 2);
  const double beta = model_.beta;
  const double full_gain = total_gain();
  const double gain = full_gain / (1.0 + c);
  const Plane omega = sample.omega[inner];
  const double deviation = sample.deviation[inner];
  for (std::size_t i = 0; i < nodes_; ++i) {
    const double p = omega.plus + deviation * work.eta_plus[inner][i];
    const double m = omega.minus + deviation * work.eta_minus[inner][i];
    const double up = gain * p + work.mix[i] * m;
    const double um = work.stretch[i] * m;
    work.score_minus[i] = um;
    work.sigmoid[i] = beta * (um * um + up * um);
    work.sigmoid[nodes_ + i] = beta * (um * um - up * um);
  }
  simd::sigmoid(work.sigmoid, work.sigmoid);
  const Plane last = sample.omega[inner + 1];
  const double last_scale = 1.0 / sample.deviation[inner + 1];
  for (std::size_t i = 0; i < nodes_; ++i) {
    const double s1 = work.sigmoid[i];
    const double s2 = work.sigmoid[nodes_ + i];
    const double lambda = std::max(s1 + s2 - 1.0 + c, smallest_lambda);
    const double mix = (1.0 + c) * work.mix[i] + (s1 - s2) * work.stretch[i];
    const double zm = sample.h.minus / (lambda * work.stretch[i]);
    const double zp = (sample.h.plus - mix * zm) / full_gain;
    const double slope = zm * work.score_minus[i] * work.stretch[i];
    work.lambda[i] = lambda;
    work.jacobian[i] = 8.0 * beta * beta * slope * slope * (s1 * (1.0 - s1)) * (s2 * (1.0 - s2)) /
                       (lambda * (1.0 + c));
    work.solved_plus[i] = (zp - last.plus) * last_scale;
    work.solved_minus[i] = (zm - last.minus) * last_scale;
    work.solved_plus[nodes_ + i] = (-zp - last.plus) * last_scale;
    work.solved_minus[nodes_ + i] = (-zm - last.minus) * last_scale;
    work.feasible[i] = 1.0;
  }
}

/// Proposal B: the last field drawn; the softmax of layer L-1 inverted [smi 12].
void TwoTokenPosterior::propose_last_field(const Sample& sample, Workspace& work) const {
  const auto inner = static_cast<std::size_t>(model_.layers - 2);
  const double c = model_.skip_of(model_.layers - 2);
  const double beta = model_.beta;
  const double full_gain = total_gain();
  const double gain = full_gain / (1.0 + c);
  const Plane last = sample.omega[inner + 1];
  const double last_deviation = sample.deviation[inner + 1];
  for (std::size_t i = 0; i < nodes_; ++i) {
    const double zp = last.plus + last_deviation * work.eta_plus[inner][i];
    const double zm = last.minus + last_deviation * work.eta_minus[inner][i];
    // lambda > 0 leaves one sign of h.
    const double sign = sample.h.minus * zm < 0.0 ? -1.0 : 1.0;
    const double lambda = sign * sample.h.minus / (zm * work.stretch[i]);
    const double t =
        ((sign * sample.h.plus - full_gain * zp) / zm - (1.0 + c) * work.mix[i]) / work.stretch[i];
    const double s1 = 0.5 * (lambda - c + 1.0 + t);
    const double s2 = 0.5 * (lambda - c + 1.0 - t);
    const bool feasible = s1 > 0.0 && s1 < 1.0 && s2 > 0.0 && s2 < 1.0 && s1 + s2 > 1.0;
    work.feasible[i] = feasible ? 1.0 : 0.0;
    work.lambda[i] = lambda;
    work.field_minus[i] = zm;
    work.sigmoid[i] = feasible ? s1 : 0.75;
    work.sigmoid[nodes_ + i] = feasible ? s2 : 0.75;
    work.exponent[i] = work.sigmoid[i] / (1.0 - work.sigmoid[i]);
    work.exponent[nodes_ + i] = work.sigmoid[nodes_ + i] / (1.0 - work.sigmoid[nodes_ + i]);
  }
  simd::log(work.exponent, work.exponent);
  const Plane omega = sample.omega[inner];
  const double scale = 1.0 / sample.deviation[inner];
  for (std::size_t i = 0; i < nodes_; ++i) {
    const double l1 = work.exponent[i];
    const double l2 = work.exponent[nodes_ + i];
    const double s1 = work.sigmoid[i];
    const double s2 = work.sigmoid[nodes_ + i];
    const double um = std::sqrt(std::max(l1 + l2, smallest_score) / (2.0 * beta));
    const double up = (l1 - l2) / (2.0 * beta * um);
    const double zm = um / work.stretch[i];
    const double zp = (up - work.mix[i] * zm) / gain;
    const double slope = work.field_minus[i] * um * work.stretch[i];
    work.jacobian[i] = 8.0 * beta * beta * slope * slope * (s1 * (1.0 - s1)) * (s2 * (1.0 - s2)) /
                       (work.lambda[i] * (1.0 + c));
    work.solved_plus[i] = (zp - omega.plus) * scale;
    work.solved_minus[i] = (zm - omega.minus) * scale;
    work.solved_plus[nodes_ + i] = (-zp - omega.plus) * scale;
    work.solved_minus[nodes_ + i] = (-zm - omega.minus) * scale;
  }
}

/// Balance-heuristic weights of the proposal's nodes for both signs of the solved field [smi 11]:
///   w = 1 / (|det B| (V_L exp(E_L) + J V_{L-1} exp(E_{L-1}))).
void TwoTokenPosterior::weigh(const Sample& sample, bool last_is_solved, Workspace& work) const {
  double lowest = HUGE_VAL;
  for (std::size_t i = 0; i < 2 * nodes_; ++i) {
    const double p = work.solved_plus[i];
    const double m = work.solved_minus[i];
    work.exponent[i] = 0.5 * (p * p + m * m);
    lowest = std::min(lowest, work.exponent[i]);
  }
  work.shift = lowest > rescale_above ? lowest : 0.0;
  if (work.shift > 0.0) {
    for (double& e : work.exponent) e -= work.shift;
  }
  simd::exp(work.exponent, work.exponent);

  const double variance_last = sample.deviation.back() * sample.deviation.back();
  const double inner_deviation = sample.deviation[sample.deviation.size() - 2];
  const double variance_inner = inner_deviation * inner_deviation;
  const double rescale = std::exp(-work.shift);
  const double gain = total_gain();
  const double solved_factor = last_is_solved ? variance_last : variance_inner;
  const double drawn_factor = (last_is_solved ? variance_inner : variance_last) * rescale;
  for (std::size_t i = 0; i < nodes_; ++i) {
    const double j = work.jacobian[i];
    const double solved = solved_factor * (last_is_solved ? 1.0 : j);
    const double drawn = drawn_factor * (last_is_solved ? j : 1.0) * work.growth_last[i];
    const double scale = work.feasible[i] / (gain * work.lambda[i] * work.stretch[i]);
    const double first = scale / (solved * work.exponent[i] + drawn);
    const double second = scale / (solved * work.exponent[nodes_ + i] + drawn);
    work.weight[i] = first;
    work.weight[nodes_ + i] = second;
    work.weight_sum[i] = first + second;
  }
}

/// Adds a proposal's nodes to the moments of every layer; `solved` is the layer that was solved
/// for.
void TwoTokenPosterior::gather(int solved, const Workspace& work, LayerMoments& sums) const {
  const int drawn_last = solved == model_.layers - 1 ? model_.layers - 2 : model_.layers - 1;
  for (int l = 0; l + 2 < model_.layers; ++l) {
    const auto k = static_cast<std::size_t>(l);
    sums.layer[k].add(work.weight_sum.data(), work.eta_plus[k].data(), work.eta_minus[k].data(),
                      nodes_);
  }
  sums.layer[static_cast<std::size_t>(drawn_last)].add(
      work.weight_sum.data(), work.eta_plus.back().data(), work.eta_minus.back().data(), nodes_);
  sums.layer[static_cast<std::size_t>(solved)].add(work.weight.data(), work.solved_plus.data(),
                                                   work.solved_minus.data(), 2 * nodes_);
  sums.shift = work.shift;
}

double TwoTokenPosterior::total_gain() const {
  double gain = 1.0;
  for (int l = 0; l + 1 < model_.layers; ++l) gain *= 1.0 + model_.skip_of(l);
  return gain;
}

void TwoTokenPosterior::moments(const PosteriorQuery& query, PosteriorMoments& out) const {
  const auto layers = static_cast<std::size_t>(model_.layers);
  const std::size_t count = query.count;
  Workspace work(model_.layers, nodes_);
  Sample sample;
  sample.omega.resize(layers);
  for (const double v : query.variance) sample.deviation.push_back(std::sqrt(v));
  const std::size_t block = (query.replicate % replicate_blocks) * sets_per_replicate;
  const double log_norm = -std::log(2.0 * pi * static_cast<double>(nodes_));

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
      LayerMoments last_solved(layers);
      propose_inner_fields(sample, work);
      weigh(sample, true, work);
      gather(model_.layers - 1, work, last_solved);
      LayerMoments inner_solved(layers);
      propose_last_field(sample, work);
      weigh(sample, false, work);
      gather(model_.layers - 2, work, inner_solved);

      last_solved.merge(inner_solved);
      PosteriorMoments::Half& half = out.half[e];
      const double z = last_solved.layer[0].weight;
      half.log_z[i] = log_norm - last_solved.shift + std::log(z);
      for (std::size_t l = 0; l < layers; ++l) {
        half.fourth[l * count + i] = last_solved.layer[l].fourth / z;
        store_unrotated(last_solved.layer[l], z, half.mean.data() + 2 * l * count + i,
                        half.second.data() + 3 * l * count + i, count);
      }
    }
  }
}

}  // namespace onset::smi
