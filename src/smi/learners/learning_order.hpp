#pragma once

#include <span>
#include <vector>

#include "onset/core/estimate.hpp"
#include "smi/learners/text_training.hpp"

namespace onset::smi {

/// What it means that a layer is learned.
struct LearnedWhen {
  double level = 0.5;
  /// Whether the level is a share of the way from the similarity before the first step to 1, rather
  /// than a similarity. A layer that hardly moves is near its final weights from the start; the
  /// share asks when it covers its way, however short that is.
  bool relative = true;
};

/// What finished runs say about one layer. Errors are standard errors over runs; a single run has
/// none (not a number).
struct LayerTiming {
  Estimate start;  ///< similarity to the final weights before the first step
  Estimate steps;  ///< steps until it is learned, interpolated linearly between rows
  Estimate first;  ///< share of the runs in which this layer is learned before every other
};

/// One entry per layer, from those runs that finished; empty when there are none [smi 83].
[[nodiscard]] std::vector<LayerTiming> learning_order(std::span<const TextRun> runs,
                                                      const LearnedWhen& when);

/// Layers (from 0) by their mean number of steps.
[[nodiscard]] std::vector<std::size_t> in_order(std::span<const LayerTiming> layers);

/// Mean over runs of the share of test questions answered right in the last row. Its error is that
/// of the runs and that of the test questions, which all runs have in common.
[[nodiscard]] Estimate mean_accuracy(std::span<const TextRun> runs, std::int64_t questions);

}  // namespace onset::smi
