#pragma once

#include <cstddef>
#include <span>

#include "onset/core/context.hpp"

namespace onset::aim {

/// Tokens of samples that somebody else owns, n x T x d.
template <class Real>
struct TokenArray {
  const Real* data = nullptr;
  std::size_t samples = 0;
  std::size_t tokens = 0;
  std::size_t dim = 0;

  [[nodiscard]] const Real* of(std::size_t sample) const { return data + sample * tokens * dim; }
};

/// The sum over samples and pairs of weights_ab (x_a x_b^T + x_b x_a^T)/2, d x d, as X^T (G X),
/// where G mixes the tokens of each sample. It is symmetric, so that only half of it is computed.
void sum_weighted(const TokenArray<float>& x, std::span<const double> weights,
                  std::span<double> out, const Context& context);
void sum_weighted(const TokenArray<double>& x, std::span<const double> weights,
                  std::span<double> out, const Context& context);

}  // namespace onset::aim
