#pragma once

#include <cstdint>
#include <optional>

#include "aim/model/attention_indexed.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"

namespace onset::aim {

/// Sample ratios at which something changes; nothing where it never does.
struct BayesThresholds {
  /// Limit of small widths, in n/(d r): from here on the estimate is better than none [aim 26].
  std::optional<Estimate> weak;
  /// S is known exactly [aim 27]: noiseless softmax and linear labels only.
  std::optional<Estimate> perfect;
  /// In the place of it with one label of the sum of several layers: their sum is known exactly,
  /// each of them never [aim 29].
  std::optional<Estimate> sum;
  /// The spectrum that the denoiser sees splits in two, for rho < 1: from here on the directions of
  /// W stand apart from the others [aim 10].
  std::optional<Estimate> two_bands;
};

/// Throws as StateEvolution does.
[[nodiscard]] BayesThresholds bayes_thresholds(const AttentionIndexed& model, std::uint64_t seed,
                                               const Context& context);

}  // namespace onset::aim
