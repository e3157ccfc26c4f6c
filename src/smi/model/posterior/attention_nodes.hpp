#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "onset/smi/model/deep_attention.hpp"

namespace onset::smi {

/// The attention map below the last layer at many nodes at once: G = B_{L-1} R, which takes the
/// white fields of the last layer to u_L. Arrays are rows of `count` nodes.
///
/// A_l + skip is similar to a positive definite matrix (softmax of a Gram matrix), so elimination
/// without pivoting is as stable as Cholesky's, and runs over nodes in straight lines.
class AttentionNodes {
 public:
  AttentionNodes(const DeepAttention& model, std::size_t most);

  /// Takes the white inner fields: one row per field of the layers below the last.
  void push(const double* inner, std::size_t count);

  /// G^{-1} u for one right side of `tokens` numbers: `tokens` rows.
  void solve(std::span<const double> u, double* out);
  /// G x likewise.
  void apply(std::span<const double> x, double* out);
  /// G row by row: tokens^2 rows.
  void matrix(double* out);
  /// log |det G|, one number per node.
  [[nodiscard]] const double* log_det() const { return log_det_.data(); }

 private:
  void factor_layer(int layer, const double* u, int rank);
  void mix_fields(double* fields, std::size_t rows) const;

  DeepAttention model_;
  std::size_t tokens_;
  std::size_t count_ = 0;
  std::vector<double> root_;                 // R
  std::vector<double> fields_;               // u of the layers that are still to come
  std::vector<std::vector<double>> factor_;  // per layer: L below the diagonal, U on and above
  std::vector<double> log_det_;
  double log_det_root_ = 0.0;
};

}  // namespace onset::smi
