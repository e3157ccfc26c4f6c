#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "onset/aim/model/attention_indexed.hpp"
#include "onset/aim/model/data.hpp"

namespace onset::aim {

/// The output function g_ab = d log Z_out / d omega_ab of a sample's label, when its scores are
/// known to be N(omega_ab, variance_ab) independently [aim 16]-[aim 19], [aim 35]: exact for
/// softmax and linear labels of any number of tokens and hardmax labels of two and three.
class OutputFunction {
 public:
  /// Throws InvalidArgument naming `labels` for entries that no model of this kind gives, and
  /// Refused for hardmax of more than three tokens.
  OutputFunction(const AttentionIndexed& model, const Dataset& data);
  /// The refusal alone, before there are data.
  static void require_closed_form(const AttentionIndexed& model);

  /// All spans have T (T + 1) / 2 elements, one per score (score_index).
  void gradient(std::size_t sample, std::span<const double> omega, std::span<const double> variance,
                std::span<double> g) const;

 private:
  void softmax(const double* shown, std::span<const double> omega, std::span<const double> variance,
               std::span<double> g) const;
  void linear(const double* shown, std::span<const double> omega, std::span<const double> variance,
              std::span<double> g) const;
  static void hardmax(const double* label, std::span<const double> omega,
                      std::span<const double> variance, std::span<double> g);

  AttentionIndexed model_;
  std::size_t each_;           ///< numbers kept of a label
  std::vector<double> shown_;  ///< softmax: scores up to a shift; linear: scores; hardmax: labels
  std::vector<double> noise_;  ///< of each score, linear labels
};

}  // namespace onset::aim
