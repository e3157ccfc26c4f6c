#pragma once

#include <array>
#include <vector>

#include "aim/learners/amp.hpp"
#include "aim/model/layers/two_layer_data.hpp"

namespace onset::aim {

/// One layer in one iteration; see AmpStep.
struct TwoLayerStep {
  double mse = 0.0;
  double variance = 0.0;
  double overlap = 0.0;
  double self_overlap = 0.0;
  double conjugate = 0.0;
  double step = 0.0;
};

struct TwoLayerRun {
  std::array<std::vector<double>, 2> estimate;  ///< S_hat of each layer, d x d
  std::vector<std::array<TwoLayerStep, 2>> steps;
  Status status;
};

/// What a run takes and when it has gone wrong.
struct TwoLayerOptions {
  AmpOptions amp;  ///< its min_variance is not used
  /// A variance below this is a sign of divergence; with 0, none is.
  std::array<double, 2> min_variance{};
};

/// Approximate message passing for two Gaussian matrices behind one label [aim 48]: as for one
/// matrix, but the denoiser is linear, S_hat = R q_hat/(1 + q_hat), and the output function gives
/// the gradients of both layers. An iteration makes four products of n T x d by d x d (or its
/// transpose) and n posteriors of a few microseconds.
[[nodiscard]] TwoLayerRun two_layer_message_passing(const AttentionIndexed& model,
                                                    const TwoLayerData& data,
                                                    const TwoLayerOptions& options,
                                                    const Context& context);

}  // namespace onset::aim
