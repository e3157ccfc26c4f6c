#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Multi-head attention layers on random tokens, and how they are learned from examples.
namespace onset::mha {

/// Largest dimension: a token fits one machine word.
inline constexpr int max_dim = 64;
/// Largest number of heads; comparisons try every permutation of them.
inline constexpr int max_heads = 8;

/// F(X) = sum_i softmax(X theta_i X^T) X w_i, row-wise softmax [mha 1]. Matrices are row-major and
/// follow one another, head by head.
struct Layer {
  int heads = 0;
  int dim = 0;
  std::vector<double> theta;  ///< heads x dim x dim
  std::vector<double> w;      ///< heads x dim x dim

  [[nodiscard]] std::span<const double> theta_of(int head) const;
  [[nodiscard]] std::span<const double> w_of(int head) const;
};

/// A layer of zeros.
[[nodiscard]] Layer make_layer(int heads, int dim);

/// The outputs of the layer on one input, tokens x dim numbers. Costs heads tokens dim (dim +
/// tokens) operations.
void forward_one(const Layer& layer, const double* input, int tokens, double* out);
/// The same for entries +-1.
void forward_one(const Layer& layer, const std::int8_t* input, int tokens, double* out);

}  // namespace onset::mha
