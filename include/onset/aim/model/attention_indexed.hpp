#pragma once

#include <string_view>

namespace onset::aim {

/// What a label shows of the scores h_ab of a sample [aim 1].
enum class ChannelKind {
  softmax,  ///< softmax of each row of beta h
  hardmax,  ///< the largest entry of each row of h
  linear,   ///< h itself, with or without Gaussian noise
};

/// Variance of the noise on a linear label: of one size with the score's own, or the same for all.
enum class NoiseKind {
  scaled,  ///< noise (1 + delta_ab)
  equal,   ///< noise on every entry a <= b
};

/// The law of the matrix S.
enum class PriorKind {
  wishart,  ///< W W^T / sqrt(r d) of width ratio rho = r/d; rho = 0: the limit of small widths
  wigner,   ///< a GOE matrix of unit variance: rho -> infinity with the mean removed
};

/// How several layers make a label [aim 29].
enum class LayerLabels {
  deep,      ///< one label of a deep network, a function of the scores of all layers
  separate,  ///< one label for each layer
  sum,       ///< one label, of the sum of the layers' scores
};

/// Hardmax of two tokens as published, for comparison [aim 31].
struct PublishedHardmax {
  bool density = false;    ///< the density in the place of the derivative of the probability
  double off_scale = 1.0;  ///< variance tau^2 of off-diagonal scores in labels, in units of Q
};

/// An attention-indexed model: n = alpha d^2 samples of `tokens` Gaussian tokens in d dimensions,
/// with labels made from the scores h_ab = (x_a^T S x_b - delta_ab Tr S) / sqrt(d) [aim 1].
struct AttentionIndexed {
  ChannelKind channel = ChannelKind::softmax;
  int tokens = 2;
  double rho = 0.5;
  double beta = 1.0;   ///< inverse temperature of a softmax label; drops out of every limit
  double noise = 0.0;  ///< variance of the noise on a linear label
  NoiseKind noise_kind = NoiseKind::scaled;
  PriorKind prior = PriorKind::wishart;
  int layers = 1;
  LayerLabels labels = LayerLabels::deep;
  PublishedHardmax published;

  /// Throws InvalidArgument naming the field; throws Refused where state evolution does not close.
  void validate() const;

  /// Scores of a sample: T (T + 1) / 2.
  [[nodiscard]] double scores() const { return 0.5 * tokens * (tokens + 1); }
  /// Combinations of them that a noiseless softmax or linear label shows.
  [[nodiscard]] double observed() const {
    return channel == ChannelKind::softmax ? scores() - 1.0 : scores();
  }
  /// Whether labels fix those combinations exactly, so that perfect recovery exists.
  [[nodiscard]] bool noiseless() const {
    return channel == ChannelKind::softmax || (channel == ChannelKind::linear && noise == 0.0);
  }
};

inline constexpr int max_tokens = 1000;
inline constexpr int max_hardmax_tokens = 12;
inline constexpr int max_layers = 1000;

[[nodiscard]] std::string_view to_string(ChannelKind kind);

}  // namespace onset::aim
