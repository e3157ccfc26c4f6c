#pragma once

#include <span>
#include <vector>

#include "onset/smi/model/field_shape.hpp"

namespace onset::smi {

/// Deep attention with tied, rank-one weights, as a sequence multi-index model [smi 1-3].
///
/// A sample has `tokens` tokens; each of `layers` layers has one direction w_l, and the label
/// depends on the data only through the fields z_l = x w_l / sqrt(D), one number per token. With
/// B_0 = I,
///   u_l = B_{l-1} z_l,  A_l = softmax_rows(beta u_l u_l^T),  B_l = (A_l + skip_l I) B_{l-1},
/// and the label is y = A_L, which fixes h = u_L up to a global sign.
struct DeepAttention {
  int layers = 2;
  int tokens = 2;
  std::vector<double> skip = {1.0};  ///< one per layer below the last, or one for all of them
  double beta = 1.0;                 ///< inverse temperature of every softmax

  /// Throws InvalidArgument naming the wrong field and what is allowed.
  void validate() const;
  /// The skip strength after layer `layer` (0-based, below the last).
  [[nodiscard]] double skip_of(int layer) const;
  [[nodiscard]] FieldShape shape() const {
    return {tokens, std::vector<int>(static_cast<std::size_t>(layers), 1)};
  }
};

inline constexpr int max_layers = 64;
inline constexpr int max_tokens = 64;
inline constexpr double max_skip = 1e4;
inline constexpr double min_beta = 1e-3;
inline constexpr double max_beta = 1e3;

/// The fields of one sample are fields[layer * tokens + token].
/// Writes h = B_{L-1} z_L (one number per token) [smi 2].
void label_field(const DeepAttention& model, std::span<const double> fields, std::span<double> h);

/// Writes the label y = softmax_rows(beta h h^T), row by row (tokens^2 numbers) [smi 3].
void attention_matrix(const DeepAttention& model, std::span<const double> fields,
                      std::span<double> y);

}  // namespace onset::smi
