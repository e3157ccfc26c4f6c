#include "aim/model/single_products.hpp"

#include <algorithm>
#include <memory>

#include "aim/model/weighted_tokens.hpp"
#include "numerics/linear_algebra/symmetric_products.hpp"
#include "numerics/parallel.hpp"
#include "numerics/simd/float_vectors.hpp"

namespace onset::aim {
namespace {

/// The number of samples whose products are made and used while they are in the cache.
constexpr std::size_t cached_samples = 128;

}  // namespace

SingleProducts::SingleProducts(const Dataset& data, const Context& context)
    : context_(context),
      samples_(data.samples),
      tokens_(data.tokens),
      dim_(data.dim),
      pairs_(data.tokens * (data.tokens + 1) / 2),
      inputs_(data.inputs.begin(), data.inputs.end()) {}

void SingleProducts::pair_products(std::span<const double> matrix, std::span<double> out) const {
  // S = U + U^T, so that x^T S y = x^T U y + y^T U x.
  std::vector<float> upper(dim_ * dim_, 0.0F);
  for (std::size_t i = 0; i < dim_; ++i) {
    upper[i * dim_ + i] = static_cast<float>(0.5 * matrix[i * dim_ + i]);
    for (std::size_t j = i + 1; j < dim_; ++j) {
      upper[i * dim_ + j] = static_cast<float>(matrix[i * dim_ + j]);
    }
  }
  const std::size_t tasks = (samples_ + cached_samples - 1) / cached_samples;
  numerics::parallel_for(context_, tasks, [&](std::size_t task) {
    const std::size_t first = task * cached_samples;
    const std::size_t count = std::min(cached_samples, samples_ - first);
    const float* x = inputs_.data() + first * tokens_ * dim_;
    const auto half = std::make_unique_for_overwrite<float[]>(count * tokens_ * dim_);
    numerics::triangular_product(x, count * tokens_, dim_, upper.data(), half.get());
    const float* y = half.get();
    for (std::size_t s = first; s < first + count; ++s) {
      double* const pairs = out.data() + s * pairs_;
      for (std::size_t a = 0; a < tokens_; ++a) {
        for (std::size_t b = a; b < tokens_; ++b) {
          const float one = numerics::simd::dot(x + a * dim_, y + b * dim_, dim_);
          const float other = a == b ? one : numerics::simd::dot(x + b * dim_, y + a * dim_, dim_);
          pairs[score_index(a, b, tokens_)] = static_cast<double>(one) + static_cast<double>(other);
        }
      }
      x += tokens_ * dim_;
      y += tokens_ * dim_;
    }
  });
}

void SingleProducts::weighted_products(std::span<const double> weights,
                                       std::span<double> out) const {
  sum_weighted({inputs_.data(), samples_, tokens_, dim_}, weights, out, context_);
}

void SingleProducts::eigenvalues(std::span<const double> matrix, std::span<double> values) {
  vectors_.assign(matrix.begin(), matrix.end());
  std::vector<float> found(dim_);
  numerics::symmetric_eigen(dim_, vectors_, found);
  std::copy(found.begin(), found.end(), values.begin());
}

void SingleProducts::with_eigenvalues(std::span<const double> values, std::span<double> out) const {
  std::vector<float> scaled(vectors_);
  for (std::size_t k = 0; k < dim_; ++k) {
    const auto value = static_cast<float>(values[k]);
    for (std::size_t i = 0; i < dim_; ++i) scaled[k * dim_ + i] *= value;
  }
  std::vector<float> half(dim_ * dim_, 0.0F);
  numerics::add_upper_product(vectors_.data(), scaled.data(), dim_, dim_, half.data());
  for (std::size_t i = 0; i < dim_; ++i) {
    for (std::size_t j = i; j < dim_; ++j) {
      out[i * dim_ + j] = static_cast<double>(half[i * dim_ + j]);
      out[j * dim_ + i] = out[i * dim_ + j];
    }
  }
}

}  // namespace onset::aim
