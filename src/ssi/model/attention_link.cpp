#include <algorithm>
#include <cmath>
#include <span>

#include "onset/core/error.hpp"
#include "onset/numerics/simd/clones.hpp"
#include "onset/numerics/simd/pair_softmax.hpp"
#include "onset/numerics/simd/vector_math.hpp"
#include "onset/ssi/model/link.hpp"

namespace onset::ssi {
namespace {

/// The matrix of two tokens from its diagonal, scaled, plus a fixed one: entries
/// scale F + (fixed, rest; rest, fixed).
ONSET_CLONES void two_token_matrix(std::size_t count, const double* diagonal, double scale,
                                   double fixed, double rest, double* f) {
  for (std::size_t p = 0; p < count; ++p) {
    f[p] = scale * diagonal[p] + fixed;
    f[count + p] = scale * (1.0 - diagonal[p]) + rest;
    f[2 * count + p] = scale * (1.0 - diagonal[count + p]) + rest;
    f[3 * count + p] = scale * diagonal[count + p] + fixed;
  }
}

/// scale softmax_rows(z z^T) + (fixed, rest; rest, fixed) of two tokens.
void two_token_attention(std::size_t count, const double* z, double scale, double fixed,
                         double rest, double* f) {
  thread_local std::vector<double> diagonal;
  diagonal.resize(2 * count);
  numerics::simd::pair_softmax(z, z + count, count, diagonal.data(), diagonal.data() + count);
  two_token_matrix(count, diagonal.data(), scale, fixed, rest, f);
}

/// With the weights of the four entries, row 1 gives h1 = F_11 F_12 (w_11 - w_12), and likewise.
ONSET_CLONES void two_token_pullback(std::size_t count, const double* z, const double* f,
                                     const double* w, double* delta) {
  for (std::size_t p = 0; p < count; ++p) {
    const double h1 = f[p] * f[count + p] * (w[p] - w[count + p]);
    const double h2 = f[2 * count + p] * f[3 * count + p] * (w[3 * count + p] - w[2 * count + p]);
    const double z1 = z[p];
    const double z2 = z[count + p];
    delta[p] = h1 * (2.0 * z1 - z2) - h2 * z2;
    delta[count + p] = h2 * (2.0 * z2 - z1) - h1 * z1;
  }
}

/// softmax_rows(z z^T), entry (i, j) at f[(i L + j) count]. Scores are shifted by their row's
/// largest.
void attention_matrix(std::size_t tokens, std::size_t count, const double* z, double* f) {
  if (tokens == 2) return two_token_attention(count, z, 1.0, 0.0, 0.0, f);
  thread_local std::vector<double> extreme;
  extreme.resize(count);
  for (std::size_t i = 0; i < tokens; ++i) {
    double* row = f + i * tokens * count;
    std::fill(extreme.begin(), extreme.end(), -INFINITY);
    for (std::size_t j = 0; j < tokens; ++j) {
      for (std::size_t p = 0; p < count; ++p) {
        row[j * count + p] = z[i * count + p] * z[j * count + p];
        extreme[p] = std::max(extreme[p], row[j * count + p]);
      }
    }
    for (std::size_t j = 0; j < tokens; ++j) {
      for (std::size_t p = 0; p < count; ++p) row[j * count + p] -= extreme[p];
    }
    const std::span<double> all(row, tokens * count);
    numerics::simd::exp(all, all);
    std::fill(extreme.begin(), extreme.end(), 0.0);
    for (std::size_t j = 0; j < tokens; ++j) {
      for (std::size_t p = 0; p < count; ++p) extreme[p] += row[j * count + p];
    }
    for (std::size_t j = 0; j < tokens; ++j) {
      for (std::size_t p = 0; p < count; ++p) row[j * count + p] /= extreme[p];
    }
  }
}

/// delta_i = sum_j (H_ij + H_ji) z_j, H_ij = F_ij (w_ij - sum_k F_ik w_ik). [ssi 5]
void matrix_pullback(std::size_t tokens, std::size_t count, const double* z, const double* f,
                     const double* w, double* delta) {
  if (tokens == 2) return two_token_pullback(count, z, f, w, delta);
  thread_local std::vector<double> mean;
  mean.resize(count);
  std::fill_n(delta, tokens * count, 0.0);
  for (std::size_t i = 0; i < tokens; ++i) {
    std::fill(mean.begin(), mean.end(), 0.0);
    const double* row = f + i * tokens * count;
    const double* weight = w + i * tokens * count;
    for (std::size_t j = 0; j < tokens; ++j) {
      for (std::size_t p = 0; p < count; ++p) {
        mean[p] += row[j * count + p] * weight[j * count + p];
      }
    }
    for (std::size_t j = 0; j < tokens; ++j) {
      for (std::size_t p = 0; p < count; ++p) {
        const double h = row[j * count + p] * (weight[j * count + p] - mean[p]);
        delta[i * count + p] += h * z[j * count + p];
        delta[j * count + p] += h * z[i * count + p];
      }
    }
  }
}

/// The output is sum_ij reduce_ij F_ij, or the matrix itself.
class AttentionLink final : public Link {
 public:
  AttentionLink(std::size_t tokens, std::vector<double> reduce)
      : tokens_(tokens), reduce_(std::move(reduce)) {}
  [[nodiscard]] std::size_t tokens() const override { return tokens_; }
  [[nodiscard]] std::size_t outputs() const override {
    return reduce_.empty() ? tokens_ * tokens_ : 1;
  }
  [[nodiscard]] bool is_attention_matrix() const override { return reduce_.empty(); }

  void values(std::size_t count, const double* z, double* out) const override {
    if (reduce_.empty()) return attention_matrix(tokens_, count, z, out);
    double* f = matrix(count);
    attention_matrix(tokens_, count, z, f);
    std::fill_n(out, count, 0.0);
    for (std::size_t k = 0; k < reduce_.size(); ++k) {
      if (reduce_[k] == 0.0) continue;
      for (std::size_t p = 0; p < count; ++p) out[p] += reduce_[k] * f[k * count + p];
    }
  }

  void pullback(std::size_t count, const double* z, const double* values, const double* weight,
                double* delta) const override {
    if (reduce_.empty()) return matrix_pullback(tokens_, count, z, values, weight, delta);
    double* f = matrix(count);
    attention_matrix(tokens_, count, z, f);
    thread_local std::vector<double> spread;
    spread.resize(reduce_.size() * count);
    for (std::size_t k = 0; k < reduce_.size(); ++k) {
      for (std::size_t p = 0; p < count; ++p) spread[k * count + p] = reduce_[k] * weight[p];
    }
    matrix_pullback(tokens_, count, z, f, spread.data(), delta);
  }

 private:
  [[nodiscard]] double* matrix(std::size_t count) const {
    thread_local std::vector<double> buffer;
    buffer.resize(tokens_ * tokens_ * count);
    return buffer.data();
  }
  std::size_t tokens_;
  std::vector<double> reduce_;
};

std::vector<double> unit(std::vector<double> v, std::size_t tokens, const char* field) {
  if (v.empty()) {
    v.assign(tokens, 0.0);
    v[0] = 1.0;
  }
  double square = 0.0;
  for (const double x : v) square += x * x;
  if (v.size() != tokens || !(square > 0.0)) {
    throw InvalidArgument(field, "needs one number per token, not all 0; allowed: " +
                                     std::to_string(tokens) + " numbers");
  }
  for (double& x : v) x /= std::sqrt(square);
  return v;
}

class MixtureLink final : public Link {
 public:
  MixtureLink(double a, double omega)
      : omega_(omega), alpha_(1.0 / (1.0 + std::exp(-2.0 * a * a))) {}
  [[nodiscard]] std::size_t tokens() const override { return 2; }
  [[nodiscard]] std::size_t outputs() const override { return 4; }
  void values(std::size_t count, const double* z, double* out) const override {
    two_token_attention(count, z, 1.0 - omega_, omega_ * alpha_, omega_ * (1.0 - alpha_), out);
  }
  void pullback(std::size_t count, const double* z, const double*, const double* weight,
                double* delta) const override {
    std::vector<double> f(4 * count);
    attention_matrix(2, count, z, f.data());
    matrix_pullback(2, count, z, f.data(), weight, delta);
    for (std::size_t p = 0; p < 2 * count; ++p) delta[p] *= 1.0 - omega_;
  }

 private:
  double omega_;
  double alpha_;
};

}  // namespace

LinkPointer attention_link(const Attention& attention) {
  const std::size_t tokens = attention.tokens;
  if (tokens < 1) throw InvalidArgument("tokens", "0 tokens; allowed: 1 or more");
  std::vector<double> reduce;
  if (attention.reduction == Reduction::projection) {
    const auto left = unit(attention.left, tokens, "left");
    const auto right = unit(attention.right, tokens, "right");
    for (const double l : left) {
      for (const double r : right) reduce.push_back(l * r);
    }
  } else if (attention.reduction != Reduction::none) {
    const double scale = attention.reduction == Reduction::trace
                             ? 1.0
                             : 1.0 / std::sqrt(static_cast<double>(tokens));
    reduce.assign(tokens * tokens, 0.0);
    for (std::size_t i = 0; i < tokens; ++i) reduce[i * tokens + i] = scale;
  }
  return std::make_shared<AttentionLink>(tokens, std::move(reduce));
}

LinkPointer mixture_link(double a, double omega) {
  return std::make_shared<MixtureLink>(a, omega);
}

}  // namespace onset::ssi
