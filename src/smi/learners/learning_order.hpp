#pragma once

#include <span>
#include <vector>

#include "onset/core/estimate.hpp"
#include "smi/learners/text_training.hpp"

namespace onset::smi {

/// What it means that a layer is learned.
struct LearnedWhen {
  double level = 0.5;
  /// Of the way from the similarity before the first step to 1. A layer that hardly moves is near
  /// its end from the start; this asks when it makes its way, not how short that is. Otherwise the
  /// level is one of the similarity itself.
  bool relative = true;
};

/// What finished runs say about one layer. Errors are standard errors over runs; of a single run
/// there is none (not a number).
struct LayerTiming {
  Estimate start;  ///< similarity to the final weights before the first step
  Estimate steps;  ///< until it is learned, between rows on a line
  Estimate first;  ///< share of the runs in which this layer is learned before every other
};

/// One entry per layer, of the finished runs among these; empty when there are none [smi 83].
[[nodiscard]] std::vector<LayerTiming> learning_order(std::span<const TextRun> runs,
                                                      const LearnedWhen& when);

/// Layers (from 0) by their mean number of steps.
[[nodiscard]] std::vector<std::size_t> in_order(std::span<const LayerTiming> layers);

/// Mean over runs of the share of test questions answered right in the last row. Its error is that
/// of the runs and that of the test questions, which all runs have in common.
[[nodiscard]] Estimate mean_accuracy(std::span<const TextRun> runs, std::int64_t questions);

}  // namespace onset::smi
