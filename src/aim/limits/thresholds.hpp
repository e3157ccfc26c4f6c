#pragma once

#include <cstdint>
#include <optional>

#include "aim/model/attention_indexed.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"

namespace onset::aim {

/// The sample ratios at which something changes; empty where it never does.
struct BayesThresholds {
  /// In the limit of small widths, in n/(d r): from here on the estimate is better than none [aim
  /// 26].
  std::optional<Estimate> weak;
  /// From here on S is known exactly [aim 27]; only noiseless softmax and linear labels have it.
  std::optional<Estimate> perfect;
  /// This takes the place of `perfect` where one label shows the sum of several layers: from here
  /// on their sum is known exactly, though no single layer ever is [aim 29].
  std::optional<Estimate> sum;
  /// Here, for rho < 1, the spectrum that the denoiser sees splits in two: from here on the
  /// directions of W stand apart from the others [aim 10].
  std::optional<Estimate> two_bands;
};

/// Throws as StateEvolution does.
[[nodiscard]] BayesThresholds bayes_thresholds(const AttentionIndexed& model, std::uint64_t seed,
                                               const Context& context);

}  // namespace onset::aim
