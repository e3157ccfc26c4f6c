#include "smi/model/posterior/two_token_posterior.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/simd/vector_math.hpp"
#include "smi/model/posterior/node_sets.hpp"
#include "smi/model/posterior/ratio_bias.hpp"
#include "smi/model/posterior/two_token_workspace.hpp"

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

/// B has the nodes of A divided by the first of these, C by the second.
constexpr std::size_t last_share = 2;
constexpr std::size_t centre_share = 4;

Plane rotate_tokens(double first, double second) {
  constexpr double half_sqrt2 = 0.5 * std::numbers::sqrt2;
  return {(first + second) * half_sqrt2, (first - second) * half_sqrt2};
}

/// What finitely many nodes add to the averages over them, with a 1 in place of their sum.
PlaneSums biases(const BatchSums& sums) {
  const double total = sums.all[0];
  PlaneSums bias{1.0};
  for (std::size_t k = 1; k < bias.size(); ++k) {
    bias[k] = ratio_bias(sums.first[0] / total, sums.first[k] / total, sums.all[k] / total);
  }
  return bias;
}

/// Writes the moments in the basis of the two tokens; rows are `count` apart.
void store_unrotated(const PlaneSums& sums, double* mean, double* second, std::size_t count) {
  const double z = sums[0];
  const Plane of_tokens = rotate_tokens(sums[1] / z, sums[2] / z);
  const double even = 0.5 * (sums[3] + sums[5]) / z;
  const double odd = sums[4] / z;
  mean[0] = of_tokens.plus;
  mean[count] = of_tokens.minus;
  second[0] = even + odd;
  second[count] = 0.5 * (sums[3] - sums[5]) / z;
  second[2 * count] = even - odd;
}

}  // namespace

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
