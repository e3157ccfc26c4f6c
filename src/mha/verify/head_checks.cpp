#include <algorithm>
#include <cmath>

#include "mha/linear_algebra/dense.hpp"
#include "mha/verify/parts.hpp"
#include "numerics/linear_algebra/singular_values.hpp"

namespace onset::mha::verifier {
namespace {

/// Heads nearer to one another than this share of the largest theta are one.
constexpr double same_head = 1e-7;
constexpr double norm_rounding = 1e-12;
constexpr std::size_t rows_per_feature = 8;

double norm(std::span<const double> values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size())).norm();
}

double distance(std::span<const double> a, std::span<const double> b) {
  const auto size = static_cast<Index>(a.size());
  return (Eigen::Map<const Vector>(a.data(), size) - Eigen::Map<const Vector>(b.data(), size))
      .norm();
}

}  // namespace

double features_smallest(const Layer& layer, const Examples& examples) {
  const auto columns = static_cast<std::size_t>(layer.heads) * static_cast<std::size_t>(layer.dim);
  const auto tokens = static_cast<std::size_t>(examples.tokens);
  const std::size_t count =
      std::min(examples.count, (rows_per_feature * columns + tokens - 1) / tokens);
  Matrix features(static_cast<Index>(count * tokens), static_cast<Index>(columns));
  Matrix out(examples.tokens, examples.dim);
  for (int i = 0; i < layer.heads; ++i) {
    const Layer head = bare_head(layer.theta_of(i), layer.dim);
    for (std::size_t n = 0; n < count; ++n) {
      forward_one(head, examples, n, out.data());
      features.block(static_cast<Index>(n * tokens), static_cast<Index>(i) * layer.dim,
                     examples.tokens, layer.dim) = out;
    }
  }
  features.colwise().normalize();
  const std::vector<double> values = numerics::singular_values(view(features));
  return values.size() < columns ? 0.0 : values.back() / values.front();
}

std::vector<double> sum_of_projections(const Layer& layer) {
  std::vector<double> sum(static_cast<std::size_t>(layer.dim) *
                          static_cast<std::size_t>(layer.dim));
  for (int i = 0; i < layer.heads; ++i) {
    for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += layer.w_of(i)[c];
  }
  return sum;
}

double sum_over_largest(const Layer& layer) {
  double largest = 0.0;
  for (int i = 0; i < layer.heads; ++i) largest = std::max(largest, norm(layer.w_of(i)));
  return largest > 0.0 ? norm(sum_of_projections(layer)) / largest : 0.0;
}

bool is_canonical(const Layer& layer) {
  double largest = 0.0;
  for (int i = 0; i < layer.heads; ++i) largest = std::max(largest, norm(layer.theta_of(i)));
  for (int i = 0; i < layer.heads; ++i) {
    if (!(norm(layer.w_of(i)) > same_head * norm(layer.w_of(0)))) return false;
    for (int j = 0; j < i; ++j) {
      if (!(distance(layer.theta_of(i), layer.theta_of(j)) > same_head * largest)) return false;
    }
    if (i > 0 && norm(layer.w_of(i)) > (1.0 + norm_rounding) * norm(layer.w_of(i - 1))) {
      return false;
    }
  }
  return true;
}

int heads_kept(const RejectedTuple& tuple, const Layer& layer) {
  const auto size = static_cast<std::size_t>(layer.dim) * static_cast<std::size_t>(layer.dim);
  std::vector<bool> taken(static_cast<std::size_t>(layer.heads));
  int kept = 0;
  for (std::size_t first = 0; first + size <= tuple.thetas.size(); first += size) {
    for (int i = 0; i < layer.heads; ++i) {
      if (taken[static_cast<std::size_t>(i)] ||
          !std::equal(layer.theta_of(i).begin(), layer.theta_of(i).end(),
                      tuple.thetas.begin() + static_cast<std::ptrdiff_t>(first))) {
        continue;
      }
      taken[static_cast<std::size_t>(i)] = true;
      ++kept;
      break;
    }
  }
  return kept;
}

}  // namespace onset::mha::verifier
