#pragma once

#include <cmath>
#include <span>

#include "onset/smi/model/deep_attention.hpp"
#include "onset/smi/model/field_shape.hpp"

namespace onset::smi {

/// y = softmax_rows(z z^T), one layer of attention over `tokens` tokens, described by z up to its
/// sign [smi 3].
struct AttentionLink {
  int tokens = 2;

  [[nodiscard]] FieldShape shape() const { return {tokens, {1}}; }
  [[nodiscard]] int label_size() const { return tokens; }
  [[nodiscard]] double constraints() const { return tokens; }
  static void label(std::span<const double> z, std::span<double> y) {
    for (std::size_t t = 0; t < z.size(); ++t) y[t] = std::signbit(z[0]) ? -z[t] : z[t];
  }
  [[nodiscard]] int prediction_size() const { return tokens * tokens; }
  void prediction(std::span<const double> z, std::span<double> y) const {
    attention_matrix({1, tokens, {1.0}, 1.0}, z, y);
  }
  [[nodiscard]] double posterior(std::span<const double> label, std::span<const double> omega,
                                 std::span<const double> variance, std::span<double> mean,
                                 std::span<double> second) const;
};

}  // namespace onset::smi
