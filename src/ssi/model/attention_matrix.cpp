#include "ssi/model/attention_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "numerics/simd/clones.hpp"
#include "numerics/simd/pair_softmax.hpp"
#include "numerics/simd/vector_math.hpp"

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

/// With the weights of the four entries, row 1 gives h1 = F_11 F_12 (w_11 - w_12), and row 2
/// likewise.
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

}  // namespace

void two_token_attention(std::size_t count, const double* z, double scale, double fixed,
                         double rest, double* f) {
  thread_local std::vector<double> diagonal;
  diagonal.resize(2 * count);
  numerics::simd::pair_softmax(z, z + count, count, diagonal.data(), diagonal.data() + count);
  two_token_matrix(count, diagonal.data(), scale, fixed, rest, f);
}

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

void attention_pullback(std::size_t tokens, std::size_t count, const double* z, const double* f,
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

double attention_ns(std::size_t tokens) {
  // Two tokens have vector code of their own; otherwise each of L^2 entries takes an exponential.
  return tokens == 2 ? 5.0 : 4.0 * static_cast<double>(tokens * tokens);
}

}  // namespace onset::ssi
