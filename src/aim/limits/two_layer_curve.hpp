#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "aim/model/attention_indexed.hpp"
#include "aim/model/channel.hpp"
#include "aim/model/layers/two_layers.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/core/status.hpp"

namespace onset::aim {

/// One number for each layer.
using PerLayer = std::array<double, 2>;

/// What a label of two layers tells when the errors of their matrices are V_1 and V_2: E_hat of
/// each layer, between 0 and 2, and the mean logarithm of its density [aim 45].
struct TwoLayerInformation {
  PerLayer layer{};
  double log_density = 0.0;
  /// Bounds what the inner integrals err by, of E_hat and of log_density.
  double bias = 0.0;
};

/// Averages over labels by one replicate of scrambled Sobol points.
class TwoLayerChannel {
 public:
  TwoLayerChannel(const TwoLayers& model, std::uint64_t seed, std::uint64_t replicate);
  /// Takes some ten milliseconds.
  [[nodiscard]] TwoLayerInformation at(const PerLayer& mmse) const;

 private:
  TwoLayers model_;
  std::vector<double> normals_;
};

/// The fixed point of two Gaussian matrices behind one label.
struct TwoLayerPoint {
  double alpha = 0.0;
  std::array<Estimate, 2> mmse;
  std::array<Estimate, 2> conjugate;  ///< q_hat; infinite at perfect recovery
  /// Counted from nothing known, over d^2; none at perfect recovery.
  std::optional<Estimate> free_entropy;
  /// Whether what is reached from knowing nothing has a larger error: a hard phase.
  bool hard = false;
  Status status;
  [[nodiscard]] bool found() const {
    return status.converged() || status.reason == StopReason::recovered;
  }
};

/// How that is computed, for one alpha.
[[nodiscard]] InformationPlan two_layer_plan();

/// The sample ratio at which counting allows perfect recovery [aim 46].
[[nodiscard]] double two_layer_recovery(const AttentionIndexed& model);

/// The fixed point of largest free entropy at every alpha: state evolution is iterated from nothing
/// and from almost everything known by the first of 16 replicates, and each of them is carried to
/// its own fixed point from there [aim 47].
[[nodiscard]] std::vector<TwoLayerPoint> two_layer_curve(const AttentionIndexed& model,
                                                         std::span<const double> alphas,
                                                         std::uint64_t seed,
                                                         const Context& context);

}  // namespace onset::aim
