#pragma once

#include <array>

namespace onset::aim {

/// What of the three scores of two tokens a softmax shows: h_11 - h_12 and h_22 - h_12.
using PairFields = std::array<double, 2>;

/// A symmetric 2 x 2 matrix: its entries 11, 12, 22.
using PairMatrix = std::array<double, 3>;

/// The covariance of the fields of scores of variances 1 + delta_ab.
inline constexpr PairMatrix pair_covariance{3.0, 1.0, 3.0};

/// The fields of three scores in the order of score_index.
[[nodiscard]] inline PairFields fields_of(const double* scores) {
  return {scores[0] - scores[1], scores[2] - scores[1]};
}

/// What is known of the fields of a layer: a Gaussian.
struct PairLaw {
  PairFields mean;
  PairMatrix covariance;
};

/// x^T C^-1 x.
[[nodiscard]] double squared_length(const PairFields& x, const PairMatrix& covariance);
/// C^-1 x.
[[nodiscard]] PairFields solve(const PairMatrix& covariance, const PairFields& x);

/// Two layers of attention to two tokens [aim 42]: the first one mixes the tokens by B = softmax of
/// its rows + skip, and the label is the softmax of the second one's scores of the mixed tokens.
struct TwoLayers {
  double beta = 1.0;
  double skip = 1.0;

  /// What the label shows: the fields t = A(u) w of B h B^T, where u and w are those of the two
  /// layers' scores [aim 43].
  [[nodiscard]] PairFields shown(const PairFields& first, const PairFields& second) const;
};

/// What a label tells of the fields of both layers.
struct TwoLayerMoments {
  std::array<PairFields, 2> mean{};  ///< E[u | t] and E[w | t]
  /// tr C^-1 Var[. | t] of each layer, between 0 and 2 on average: how much of what was not known
  /// still is not.
  std::array<double, 2> unknown{};
  double log_density = 0.0;  ///< of t
  double error = 0.0;  ///< of means in standard deviations of the laws, of unknown and log_density
};

/// The posterior of the fields of both layers given what a label shows, when before the label they
/// are Gaussian and independent: an integral over the two fields of the first layer [aim 44], by
/// trapezoid rules of half the step of one another until two agree. Some ten microseconds, or more
/// where the label fixes the first layer far better than it was known.
[[nodiscard]] TwoLayerMoments two_layer_posterior(const TwoLayers& model, const PairFields& shown,
                                                  const std::array<PairLaw, 2>& laws);

}  // namespace onset::aim
