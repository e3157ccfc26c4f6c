#include "onset/smi/model/deep_attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "onset/core/error.hpp"

namespace onset::smi {
namespace {

void check_range(const char* field, double value, double low, double high) {
  if (!(value >= low && value <= high)) {
    throw InvalidArgument(field, std::to_string(value) + " is outside the allowed range [" +
                                     std::to_string(low) + ", " + std::to_string(high) + "]");
  }
}

/// The lower Cholesky factor of a covariance; its diagonal holds NaN from the first pivot that is
/// not positive.
std::vector<double> cholesky_factor(const std::vector<double>& covariance, std::size_t m) {
  std::vector<double> root(m * m, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double x = covariance[i * m + j];
      for (std::size_t k = 0; k < j; ++k) x -= root[i * m + k] * root[j * m + k];
      root[i * m + j] = i == j ? std::sqrt(x) : x / root[j * m + j];
    }
  }
  return root;
}

/// Row `row` of softmax(beta u^T u) for u of `rank` directions; the largest score is subtracted so
/// that nothing overflows.
void softmax_row(double beta, std::span<const double> u, std::size_t row, std::span<double> out) {
  const std::size_t m = out.size();
  double top = -HUGE_VAL;
  for (std::size_t j = 0; j < m; ++j) {
    double score = 0.0;
    for (std::size_t p = 0; p < u.size(); p += m) score += u[p + row] * u[p + j];
    out[j] = beta * score;
    top = std::max(top, out[j]);
  }
  double sum = 0.0;
  for (double& x : out) {
    x = std::exp(x - top);
    sum += x;
  }
  for (double& x : out) x /= sum;
}

void check_covariance(const std::vector<double>& covariance, int tokens) {
  const auto m = static_cast<std::size_t>(tokens);
  const std::string allowed =
      "; allowed: a symmetric, positive definite matrix with ones on its "
      "diagonal, " +
      std::to_string(tokens) + " x " + std::to_string(tokens);
  if (covariance.size() != m * m) {
    throw InvalidArgument("token_covariance",
                          "has " + std::to_string(covariance.size()) + " entries" + allowed);
  }
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double x = covariance[i * m + j];
      const double mirrored = covariance[j * m + i];
      const bool fits = i == j ? std::abs(x - 1.0) <= 1e-12 : std::abs(x - mirrored) <= 1e-12;
      if (!fits)
        throw InvalidArgument("token_covariance", "is no covariance of the tokens" + allowed);
    }
  }
  const std::vector<double> root = cholesky_factor(covariance, m);
  for (std::size_t i = 0; i < m; ++i) {
    if (!(root[i * m + i] > 1e-6))
      throw InvalidArgument("token_covariance", "is no covariance of the tokens" + allowed);
  }
}

}  // namespace

void DeepAttention::validate() const {
  check_range("layers", layers, 1, max_layers);
  check_range("tokens", tokens, 2, max_tokens);
  const auto each = static_cast<std::size_t>(layers);
  const std::size_t given = skip.size();
  if (given != 1 && given != each && (given == 0 || given + 1 != each)) {
    throw InvalidArgument("skip", std::to_string(given) + " values given; allowed: 1, " +
                                      std::to_string(layers) +
                                      " or one less (one for all, or one "
                                      "for every layer, of which the last has none)");
  }
  for (const double c : skip) check_range("skip", c, 0.0, max_skip);
  check_range("beta", beta, min_beta, max_beta);
  if (rank.size() != 1 && rank.size() != static_cast<std::size_t>(layers)) {
    throw InvalidArgument("rank", std::to_string(rank.size()) + " values given; allowed: 1 or " +
                                      std::to_string(layers) + " (one for all, or one per layer)");
  }
  for (const int r : rank) check_range("rank", r, 1, max_rank);
  check_range("noise", noise, 0.0, max_noise);
  if (!token_covariance.empty()) check_covariance(token_covariance, tokens);
}

int DeepAttention::rank_of(int layer) const {
  return rank.size() == 1 ? rank.front() : rank[static_cast<std::size_t>(layer)];
}

FieldShape DeepAttention::shape() const {
  FieldShape shape{tokens, {}};
  for (int l = 0; l < layers; ++l) shape.rank.push_back(rank_of(l));
  return shape;
}

bool DeepAttention::plain() const {
  return noise == 0.0 && token_covariance.empty() &&
         std::all_of(rank.begin(), rank.end(), [](int r) { return r == 1; });
}

std::vector<double> DeepAttention::token_root() const {
  const auto m = static_cast<std::size_t>(tokens);
  if (!token_covariance.empty()) return cholesky_factor(token_covariance, m);
  std::vector<double> root(m * m, 0.0);
  for (std::size_t i = 0; i < m; ++i) root[i * m + i] = 1.0;
  return root;
}

double DeepAttention::skip_of(int layer) const {
  return skip.size() == 1 ? skip.front() : skip[static_cast<std::size_t>(layer)];
}

void label_field(const DeepAttention& model, std::span<const double> fields,
                 std::span<double> u_last) {
  const auto m = static_cast<std::size_t>(model.tokens);
  // Only B_{l-1} z is ever needed, so every remaining layer's fields are pushed through each layer.
  // Buffers are kept, since this is the inner loop of every plain expectation.
  thread_local std::vector<double> u;
  std::array<double, max_tokens> row_buffer;
  std::array<double, std::size_t{max_tokens} * max_tokens> mixing;
  std::array<double, max_tokens> mixed;
  const std::span<double> row = std::span(row_buffer).first(m);
  u.assign(fields.begin(), fields.end());
  const auto mix = [&](const double* matrix, std::size_t first) {
    for (double* x = u.data() + first; x != u.data() + u.size(); x += m) {
      for (std::size_t i = 0; i < m; ++i) {
        mixed[i] = 0.0;
        for (std::size_t j = 0; j < m; ++j) mixed[i] += matrix[i * m + j] * x[j];
      }
      std::copy_n(mixed.data(), m, x);
    }
  };
  if (!model.token_covariance.empty()) mix(model.token_root().data(), 0);
  std::size_t first = 0;
  for (int layer = 0; layer + 1 < model.layers; ++layer) {
    const std::size_t size = static_cast<std::size_t>(model.rank_of(layer)) * m;
    for (std::size_t i = 0; i < m; ++i) {
      softmax_row(model.beta, std::span<const double>(u).subspan(first, size), i, row);
      row[i] += model.skip_of(layer);
      std::copy(row.begin(), row.end(), mixing.begin() + static_cast<std::ptrdiff_t>(i * m));
    }
    first += size;
    mix(mixing.data(), first);
  }
  std::copy(u.begin() + static_cast<std::ptrdiff_t>(first), u.end(), u_last.begin());
}

void attention_matrix(const DeepAttention& model, std::span<const double> fields,
                      std::span<double> y) {
  const auto m = static_cast<std::size_t>(model.tokens);
  std::array<double, static_cast<std::size_t>(max_tokens) * max_rank> u_buffer{};
  const auto u =
      std::span(u_buffer).first(static_cast<std::size_t>(model.rank_of(model.layers - 1)) * m);
  label_field(model, fields, u);
  for (std::size_t i = 0; i < m; ++i) softmax_row(model.beta, u, i, y.subspan(i * m, m));
}

}  // namespace onset::smi
