#include "aim/model/weighted_tokens.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "aim/model/data.hpp"
#include "numerics/linear_algebra/symmetric_products.hpp"
#include "numerics/parallel.hpp"
#include "numerics/simd/clones.hpp"

namespace onset::aim {
namespace {

/// The number of samples that are mixed, and used while they are in the cache.
constexpr std::size_t mixed_samples = 128;
/// Each group of samples has a sum of its own, of d^2 numbers: enough groups for many threads, of
/// enough samples that adding up the groups is little beside them.
constexpr std::size_t group_samples = 512;
constexpr std::size_t most_groups = 32;

ONSET_CLONES void add_scaled_token(float factor, const float* x, std::size_t dim, float* sum) {
  ONSET_NO_OVERLAP
  for (std::size_t i = 0; i < dim; ++i) sum[i] += factor * x[i];
}

ONSET_CLONES void add_scaled_token(double factor, const double* x, std::size_t dim, double* sum) {
  ONSET_NO_OVERLAP
  for (std::size_t i = 0; i < dim; ++i) sum[i] += factor * x[i];
}

template <class Real>
class WeightedSum {
 public:
  WeightedSum(const TokenArray<Real>& x, std::span<const double> weights)
      : x_(x),
        weights_(weights),
        pairs_(x.tokens * (x.tokens + 1) / 2),
        groups_(std::clamp<std::size_t>(x.samples / group_samples, 1, most_groups)),
        halves_(groups_ * x.dim * x.dim, Real{0}) {}

  void compute(std::span<double> out, const Context& context) {
    numerics::parallel_for(context, groups_, [&](std::size_t group) { add_group(group); });
    const std::size_t dim = x_.dim;
    numerics::parallel_for(context, dim, [&](std::size_t i) {
      for (std::size_t j = i; j < dim; ++j) {
        double sum = 0.0;
        for (std::size_t group = 0; group < groups_; ++group) {
          sum += static_cast<double>(halves_[(group * dim + i) * dim + j]);
        }
        out[i * dim + j] = sum;
        out[j * dim + i] = sum;
      }
    });
  }

 private:
  void add_group(std::size_t group) {
    const std::size_t end = (group + 1) * x_.samples / groups_;
    const std::size_t size = x_.tokens * x_.dim;
    const auto mixed = std::make_unique_for_overwrite<Real[]>(mixed_samples * size);
    for (std::size_t first = group * x_.samples / groups_; first < end; first += mixed_samples) {
      const std::size_t count = std::min(mixed_samples, end - first);
      for (std::size_t s = 0; s < count; ++s) mix(first + s, mixed.get() + s * size);
      numerics::add_upper_product(x_.of(first), mixed.get(), count * x_.tokens, x_.dim,
                                  halves_.data() + group * x_.dim * x_.dim);
    }
  }

  void mix(std::size_t sample, Real* out) const {
    const double* const w = weights_.data() + sample * pairs_;
    std::fill(out, out + x_.tokens * x_.dim, Real{0});
    for (std::size_t a = 0; a < x_.tokens; ++a) {
      for (std::size_t b = 0; b < x_.tokens; ++b) {
        const double weight =
            (a == b ? 1.0 : 0.5) * w[score_index(std::min(a, b), std::max(a, b), x_.tokens)];
        add_scaled_token(static_cast<Real>(weight), x_.of(sample) + b * x_.dim, x_.dim,
                         out + a * x_.dim);
      }
    }
  }

  const TokenArray<Real>& x_;
  std::span<const double> weights_;
  std::size_t pairs_;
  std::size_t groups_;
  std::vector<Real> halves_;  ///< the sum of each group, on and above the diagonal
};

}  // namespace

void sum_weighted(const TokenArray<float>& x, std::span<const double> weights,
                  std::span<double> out, const Context& context) {
  WeightedSum<float>(x, weights).compute(out, context);
}

void sum_weighted(const TokenArray<double>& x, std::span<const double> weights,
                  std::span<double> out, const Context& context) {
  WeightedSum<double>(x, weights).compute(out, context);
}

}  // namespace onset::aim
