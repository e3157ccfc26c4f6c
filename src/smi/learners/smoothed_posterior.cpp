#include "smi/learners/smoothed_posterior.hpp"

#include <cmath>
#include <limits>

namespace onset::smi {
namespace {

/// The sums over nodes of one inner estimate, for every sample in units of exp(top).
struct Half {
  Half(const FieldShape& shape, std::size_t count, bool between_blocks)
      : top(count, -std::numeric_limits<double>::infinity()),
        total(count, 0.0),
        mean(shape.fields() * count, 0.0),
        second(shape.all_pairs() * count, 0.0),
        cross(between_blocks ? shape.direction_pairs() * count : 0, 0.0) {}

  /// The weight of a node for sample i, after raising the unit if it needs to.
  double admit(std::size_t i, std::size_t count, double log_weight) {
    if (!(log_weight > -std::numeric_limits<double>::infinity())) return 0.0;
    if (log_weight > top[i]) {
      const double shrink = std::exp(top[i] - log_weight);
      total[i] *= shrink;
      for (std::vector<double>* sums : {&mean, &second, &cross}) {
        for (std::size_t k = i; k < sums->size(); k += count) (*sums)[k] *= shrink;
      }
      top[i] = log_weight;
    }
    const double weight = std::exp(log_weight - top[i]);
    total[i] += weight;
    return weight;
  }

  std::vector<double> top, total, mean, second, cross;
};

/// What the posterior at one node says of `count` samples.
struct Node {
  const double* offset;  ///< of every field
  const PosteriorMoments::Half& from;
  std::size_t count;
};

/// Adds what a node says of pairs of directions of different blocks for sample i.
void add_cross(const FieldShape& shape, const SmoothedPrior& prior, const Node& node, std::size_t i,
               double weight, Half& to) {
  const auto& [offset, from, count] = node;
  const auto tokens = static_cast<std::size_t>(shape.tokens);
  for (std::size_t b = 1; b < shape.blocks(); ++b) {
    for (std::size_t c = 0; c < b; ++c) {
      const double e_b = std::sqrt(prior.variance[b]);
      const double e_c = std::sqrt(prior.variance[c]);
      for (std::size_t f = shape.first(b); f < shape.first(b + 1); f += tokens) {
        for (std::size_t g = shape.first(c); g < shape.first(c + 1); g += tokens) {
          const std::size_t pair = FieldShape::direction_pair(f / tokens, g / tokens) * count + i;
          double sum = e_b * e_c * from.cross[pair];
          for (std::size_t t = 0; t < tokens; ++t) {
            sum += offset[f + t] * offset[g + t] +
                   offset[f + t] * e_c * from.mean[(g + t) * count + i] +
                   offset[g + t] * e_b * from.mean[(f + t) * count + i];
          }
          to.cross[pair] += weight * sum;
        }
      }
    }
  }
}

/// Adds what the posterior at one node says, shifted back to omega.
void add_node(const FieldShape& shape, const SmoothedPrior& prior, std::size_t node,
              const PosteriorMoments::Half& from, std::size_t count, Half& to) {
  const double* offset = prior.offsets.data() + node * shape.fields();
  for (std::size_t i = 0; i < count; ++i) {
    const double weight = to.admit(i, count, prior.log_weights[node] + from.log_z[i]);
    if (weight == 0.0) continue;
    if (!to.cross.empty()) add_cross(shape, prior, {offset, from, count}, i, weight, to);
    for (std::size_t b = 0; b < shape.blocks(); ++b) {
      const double deviation = std::sqrt(prior.variance[b]);
      const std::size_t first = shape.first(b);
      std::size_t pair = shape.first_pair(b);
      for (std::size_t k = 0; k < shape.size(b); ++k) {
        const double s = offset[first + k];
        const double e = deviation * from.mean[(first + k) * count + i];
        to.mean[(first + k) * count + i] += weight * (s + e);
        for (std::size_t j = 0; j <= k; ++j, ++pair) {
          const double sj = offset[first + j];
          const double ej = deviation * from.mean[(first + j) * count + i];
          to.second[pair * count + i] +=
              weight *
              (s * sj + s * ej + e * sj + prior.variance[b] * from.second[pair * count + i]);
        }
      }
    }
  }
}

}  // namespace

FieldMoments smoothed_moments(const Posterior& posterior, const FieldShape& shape,
                              const SmoothedPrior& prior, const FieldQuery& query) {
  const std::size_t count = query.count;
  const bool between = posterior.between_blocks();
  Half half[2] = {Half(shape, count, between), Half(shape, count, between)};
  PosteriorMoments moments(shape, count, between);
  std::vector<double> omega(shape.fields() * count);
  for (std::size_t node = 0; node < prior.nodes(); ++node) {
    for (std::size_t f = 0; f < shape.fields(); ++f) {
      const double s = prior.offsets[node * shape.fields() + f];
      for (std::size_t i = 0; i < count; ++i) omega[f * count + i] = query.omega[f * count + i] + s;
    }
    PosteriorQuery inner;
    inner.count = count;
    inner.label = query.label;
    inner.omega = omega;
    inner.variance = prior.variance;
    inner.first_sample = query.first_sample;
    inner.coupling = prior.coupling;
    inner.covariance = prior.covariance;
    posterior.moments(inner, moments);
    for (int e = 0; e < 2; ++e) add_node(shape, prior, node, moments.half[e], count, half[e]);
  }

  FieldMoments out{
      std::vector<double>(half[0].mean.size()), std::vector<double>(half[0].second.size()),
      std::vector<double>(half[0].cross.size()), std::vector<double>(half[0].mean.size())};
  for (std::size_t i = 0; i < count; ++i) {
    // Each estimate counts with its own evidence.
    const double top = std::fmax(half[0].top[i], half[1].top[i]);
    const double a = std::exp(half[0].top[i] - top);
    const double b = std::exp(half[1].top[i] - top);
    const double total = a * half[0].total[i] + b * half[1].total[i];
    for (std::size_t k = i; k < out.mean.size(); k += count) {
      out.mean[k] = (a * half[0].mean[k] + b * half[1].mean[k]) / total;
      out.gap[k] = half[0].mean[k] / half[0].total[i] - half[1].mean[k] / half[1].total[i];
    }
    for (std::size_t k = i; k < out.second.size(); k += count) {
      out.second[k] = (a * half[0].second[k] + b * half[1].second[k]) / total;
    }
    for (std::size_t k = i; k < out.cross.size(); k += count) {
      out.cross[k] = (a * half[0].cross[k] + b * half[1].cross[k]) / total;
    }
  }
  return out;
}

}  // namespace onset::smi
