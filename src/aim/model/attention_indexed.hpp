#pragma once

#include "aim/model/channels.hpp"
#include "onset/aim/model/choices.hpp"

namespace onset::aim {

/// Hardmax of two tokens as published, for comparison [aim 31].
struct PublishedHardmax {
  bool density = false;    ///< the density replaces the derivative of the probability
  double off_scale = 1.0;  ///< variance tau^2 of off-diagonal scores in labels, in units of Q
};

/// An attention-indexed model: n = alpha d^2 samples of `tokens` Gaussian tokens in d dimensions,
/// with labels made from the scores h_ab = (x_a^T S x_b - delta_ab Tr S) / sqrt(d) [aim 1].
struct AttentionIndexed {
  const Channel* channel = &softmax_channel();  ///< how scores make labels; never null
  int tokens = 2;
  double rho = 0.5;
  double beta = 1.0;            ///< inverse temperature of a softmax label; drops out of limits
  double noise_variance = 0.0;  ///< s, the variance of noise on the scores behind a label
  NoiseKind noise_kind = NoiseKind::scaled;
  PriorKind prior = PriorKind::wishart;
  int layers = 1;
  LayerLabels labels = LayerLabels::deep;
  double skip = 1.0;  ///< strength c of the skip connection between layers behind one label
  PublishedHardmax published = {};

  /// Throws InvalidArgument naming the field; throws Refused where state evolution does not close.
  void validate() const;

  /// Whether one label is made by all of several layers [aim 42].
  [[nodiscard]] bool is_deep() const { return layers > 1 && labels == LayerLabels::deep; }
  /// The number of scores of a sample, T (T + 1) / 2.
  [[nodiscard]] double scores() const { return 0.5 * tokens * (tokens + 1); }
  /// The variance of the noise on a score, which may depend on whether it is that of a token with
  /// itself.
  [[nodiscard]] double noise_on(bool diagonal) const {
    return noise_variance * (diagonal && noise_kind == NoiseKind::scaled ? 2.0 : 1.0);
  }
};

inline constexpr int max_tokens = 1000;
inline constexpr int max_layers = 1000;
/// Beyond this the first layer of a network changes nothing that could be seen.
inline constexpr double max_skip = 1000.0;
/// Beyond these a softmax is flat, or a hardmax, to rounding.
inline constexpr double min_beta = 1e-6;
inline constexpr double max_beta = 1e6;
/// Width ratios whose spectrum keeps full precision.
inline constexpr double min_rho = 1e-6;
inline constexpr double max_rho = 1e6;

}  // namespace onset::aim
