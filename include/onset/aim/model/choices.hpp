#pragma once

#include <string_view>

/// The choices that requests of the family have, by the words of the command.
namespace onset::aim {

/// The variance of the noise on a score: in proportion to the score's own, or the same for all.
enum class NoiseKind {
  scaled,  ///< s (1 + delta_ab)
  equal,   ///< s on every entry a <= b
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

/// The output function of hardmax labels of two tokens.
enum class HardmaxOutput {
  exact,    ///< the derivative of the label's probability: Bayes-optimal
  density,  ///< the density in its place, as behind the published curves [aim 31]
};

/// The variances that message passing gives to scores.
enum class ScoreVariances {
  norms,  ///< in proportion to the tokens' squared norms
  plain,  ///< all the same
};

/// The precision of the products and eigenvectors of message passing.
enum class AmpPrecision {
  mixed,  ///< single where errors are far above its rounding, else double
  full,   ///< double
};

/// What training with weight decay adds to the loss of the labels [aim 80].
enum class Penalty {
  trace,    ///< Tr S of S >= 0: decay of the weights W of S = W W^T
  nuclear,  ///< the sum of |eigenvalues| of a symmetric S
  ridge,    ///< Tr S^2 of a symmetric S
};

/// The loss of a label in training [aim 80].
enum class TrainingLoss {
  square,         ///< squared error of all entries
  fields,         ///< squared error of the scores that softmax labels show
  cross_entropy,  ///< of the softmax of the student's scores
};

/// What the best weight decay makes smallest.
enum class DecayGoal { mse, test };

/// The rate of gradient descent over its steps.
enum class RateSchedule {
  constant,
  cosine,  ///< falls to 0 like (1 + cos)/2
};

[[nodiscard]] std::string_view to_string(RateSchedule schedule);
[[nodiscard]] std::string_view to_string(Penalty penalty);
[[nodiscard]] std::string_view to_string(TrainingLoss loss);
[[nodiscard]] std::string_view to_string(DecayGoal goal);
[[nodiscard]] std::string_view to_string(NoiseKind kind);
[[nodiscard]] std::string_view to_string(PriorKind kind);
[[nodiscard]] std::string_view to_string(LayerLabels labels);
[[nodiscard]] std::string_view to_string(HardmaxOutput output);
[[nodiscard]] std::string_view to_string(ScoreVariances variances);
[[nodiscard]] std::string_view to_string(AmpPrecision precision);

}  // namespace onset::aim
