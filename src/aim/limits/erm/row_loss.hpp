#pragma once

#include <span>

#include "aim/model/attention_indexed.hpp"

namespace onset::aim {

/// The loss of one row of a label of T tokens, as a function of the student's scores in that row.
/// Softmax and hardmax: rows of probabilities, from the label's own scores; linear: the scores.
class RowOfLabel {
 public:
  RowOfLabel(const AttentionIndexed& model, TrainingLoss loss) : model_(model), loss_(loss) {}

  /// The label of a row of scores.
  void label(std::span<const double> scores, std::span<double> y) const;
  /// The student's answer to compare it with.
  void answer(std::span<const double> scores, std::span<double> p) const;
  /// Loss, gradient (T) and Hessian (T x T).
  double loss(std::span<const double> y, std::span<const double> scores, std::span<double> gradient,
              std::span<double> hessian) const;
  /// Error of a new label: squared error of probabilities or scores, or whether the choice differs.
  [[nodiscard]] double test(std::span<const double> y, std::span<const double> scores) const;

 private:
  AttentionIndexed model_;
  TrainingLoss loss_;
};

}  // namespace onset::aim
