#pragma once

#include <span>
#include <vector>

#include "onset/smi/model/field_shape.hpp"

namespace onset::smi {

/// Deep attention with tied weights, as a sequence multi-index model [smi 1-3].
///
/// A sample has `tokens` tokens; layer l has rank_l directions, and the label depends on the data
/// only through the fields z_l = w_l x^T / sqrt(D), one number per direction and token. With B_0 =
/// I,
///   u_l = z_l B_{l-1}^T,  A_l = softmax_rows(beta u_l^T u_l),  B_l = (A_l + skip_l I) B_{l-1},
/// and the label is y = A_L, which fixes u_L up to a rotation (a sign at rank one).
struct DeepAttention {
  int layers = 2;
  int tokens = 2;
  /// One for all layers, or one for each. The last layer has no skip connection: its value has no
  /// effect and may be omitted.
  std::vector<double> skip = {1.0};
  double beta = 1.0;            ///< inverse temperature of every softmax
  std::vector<int> rank = {1};  ///< one per layer, or one for all of them
  double noise = 0.0;           ///< standard deviation of Gaussian noise on u_L [smi 31]
  /// The covariance of the tokens, tokens x tokens, row by row, with ones on its diagonal; empty
  /// for independent tokens. Fields are white: u_l = z_l R^T B_{l-1}^T with R R^T the covariance
  /// [smi 28].
  std::vector<double> token_covariance = {};

  /// Throws InvalidArgument naming the wrong field and what is allowed.
  void validate() const;
  /// The skip strength after layer `layer` (0-based, below the last).
  [[nodiscard]] double skip_of(int layer) const;
  [[nodiscard]] int rank_of(int layer) const;
  [[nodiscard]] FieldShape shape() const;
  /// Whether it is the plain model that section 1.1 of the paper starts from: rank one, no noise,
  /// independent tokens.
  [[nodiscard]] bool plain() const;
  /// R, row by row: the lower Cholesky factor of the token covariance.
  [[nodiscard]] std::vector<double> token_root() const;
};

inline constexpr int max_layers = 64;
inline constexpr int max_tokens = 64;
inline constexpr double max_skip = 1e4;
inline constexpr double min_beta = 1e-3;
inline constexpr double max_beta = 1e3;
inline constexpr int max_rank = 16;
inline constexpr double max_noise = 1e3;

/// u_L of one sample (rank_L x tokens numbers, direction after direction) from its fields, laid out
/// as shape() says [smi 2].
void label_field(const DeepAttention& model, std::span<const double> fields, std::span<double> u);

/// Writes the label y = softmax_rows(beta u_L^T u_L), row by row (tokens^2 numbers) [smi 3].
void attention_matrix(const DeepAttention& model, std::span<const double> fields,
                      std::span<double> y);

}  // namespace onset::smi
