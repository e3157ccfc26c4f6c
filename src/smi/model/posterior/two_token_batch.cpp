#include "smi/model/posterior/two_token_batch.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/simd/vector_math.hpp"
#include "smi/model/posterior/node_sets.hpp"
#include "smi/model/posterior/ratio_bias.hpp"

namespace onset::smi::two_token {
namespace {

/// Node sets are shared by samples after a random rotation. Too few put a floor under the error
/// that more samples cannot lower; replicates draw from disjoint blocks, so their scatter shows it.
constexpr std::size_t most_sets = 64;
constexpr std::size_t replicate_groups = 16;
/// Large sets are better by themselves, and so many nodes of a replicate fit into memory.
constexpr std::size_t nodes_of_all_sets = std::size_t{1} << 20;

std::size_t sets_per_replicate(std::size_t nodes) {
  return std::clamp<std::size_t>(nodes_of_all_sets / nodes, 1, most_sets);
}

/// Keeps the scrambles of inner nodes apart from those of outer points, which count from 0.
constexpr std::uint64_t first_inner_scramble = std::uint64_t{1} << 40;

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

std::size_t node_sets(std::size_t nodes) {
  return sets_per_replicate(nodes) * replicate_groups;
}

std::vector<double> node_normals(int layers, const PosteriorOptions& options) {
  const int dimensions = 2 * (layers - 1);
  const std::size_t half = static_cast<std::size_t>(options.nodes) / 2;
  const std::size_t size = static_cast<std::size_t>(dimensions) * half;
  const std::size_t sets = node_sets(2 * half);
  std::vector<double> normals(sets * size);
  for (std::size_t set = 0; set < sets; ++set) {
    const auto out = std::span(normals).subspan(set * size, size);
    numerics::scrambled_sobol(dimensions, options.seed, first_inner_scramble + set)
        ->points(0, half, out);
    numerics::simd::normal_quantile(out, out);
  }
  return normals;
}

double NodeKey::turn(std::size_t layer) const {
  return hashed_uniform(key, layer);
}

Questions::Questions(const PosteriorQuery& query) : query_(query) {
  for (const double v : query.variance) deviation_.push_back(std::sqrt(v));
}

void Questions::read(std::span<const double> from, std::size_t i, std::vector<Plane>& to) const {
  const std::size_t count = query_.count;
  to.resize(from.empty() ? 0 : deviation_.size());
  for (std::size_t l = 0; l < to.size(); ++l) {
    to[l] = rotate_tokens(from[2 * l * count + i], from[(2 * l + 1) * count + i]);
  }
}

void Questions::read(std::size_t i, TwoTokenSample& sample, std::vector<Plane>& centre) const {
  sample.h = rotate_tokens(query_.label[i], query_.label[query_.count + i]);
  sample.deviation = deviation_;
  read(query_.omega, i, sample.omega);
  read(query_.centre, i, centre);
}

NodeKey Questions::key(std::size_t i, std::uint64_t estimate, const NodeCounts& nodes) const {
  const std::size_t sets = sets_per_replicate(nodes.prior);
  const std::uint64_t number = 2 * (query_.first_sample + i) + estimate;
  const std::size_t first = (query_.replicate % replicate_groups) * sets;
  return {first + number % sets, (query_.replicate << 40) + number};
}

void store(std::span<const BatchSums> layers, double shift, const NodeCounts& nodes, std::size_t i,
           PosteriorMoments::Half& out) {
  const std::size_t count = out.log_z.size();
  const double log_norm = -std::log(2.0 * std::numbers::pi * static_cast<double>(nodes.prior));
  out.log_z[i] = log_norm - shift + std::log(layers[0].all[0]);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const std::size_t mean = 2 * l * count + i;
    const std::size_t second = 3 * l * count + i;
    store_unrotated(layers[l].all, &out.mean[mean], &out.second[second], count);
    store_unrotated(biases(layers[l]), &out.mean_bias[mean], &out.second_bias[second], count);
  }
}

Plane side_of(Plane centre) {
  const bool vanishes = centre.plus == 0.0 && centre.minus == 0.0;
  return vanishes ? Plane{1.0, 1.0} : centre;
}

}  // namespace onset::smi::two_token
