#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "aim/limits/flow/risk.hpp"
#include "aim/model/attention_indexed.hpp"
#include "onset/core/estimate.hpp"

namespace onset::aim {

/// What a prediction of a new label is off by: the squared error summed over its entries, or, for
/// hardmax, the share of rows with a wrong choice.
struct LabelError {
  Estimate bayes;    ///< of the best prediction
  Estimate plug_in;  ///< of the label that the estimated matrix makes
};

/// The error on new labels, of which an estimate of the matrix with overlap q knows the part
/// omega ~ N(0, q (1 + delta_ab)) of the scores, the rest having variance V (1 + delta_ab) [aim
/// 37].
class LabelErrors {
 public:
  LabelErrors(const AttentionIndexed& model, std::uint64_t seed);

  /// At an overlap and an error V, q + V = Tr S^2/d. Nothing for published forms, for one
  /// label of several layers, for noise that differs between the scores of a softmax, and for a
  /// softmax steeper than max_steepness().
  [[nodiscard]] std::optional<LabelError> at(const Estimate& overlap, const Estimate& mmse) const;

 private:
  [[nodiscard]] LabelError linear(const Estimate& mmse) const;
  [[nodiscard]] LabelError softmax(double norm, const Estimate& mmse) const;
  [[nodiscard]] LabelError hardmax(double norm, const Estimate& mmse) const;

  AttentionIndexed model_;
  std::uint64_t seed_;
};

}  // namespace onset::aim
