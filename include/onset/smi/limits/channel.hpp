#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi/model/posterior.hpp"

namespace onset::smi {

/// How finely a Channel is integrated.
struct ChannelOptions {
  std::size_t points = 1024;  ///< outer points per replicate; a power of two
  int replicates = numerics::default_replicates;
  int nodes = 256;  ///< inner nodes per half of the posterior
  std::uint64_t seed = 1;
  void validate() const;
};

/// What one label tells about each layer when the overlaps are Q_l = 1 - V_l [smi 13-16].
struct ChannelInformation {
  /// r_l = V_l E|g_l|^2 = E|<zeta_l>|^2, between 0 and the number of tokens; 0 where V_l = 1. State
  /// evolution is 1 - V_l = alpha r_l.
  std::vector<numerics::Replicates> gain;
  /// F_l = E ||<zeta_l zeta_l^T> - I||_F^2 where V_l = 1: alpha F_l is the growth factor of a small
  /// overlap of a layer that is not yet learned. Empty for the other layers.
  std::vector<numerics::Replicates> growth;
  /// Psi = E log Z_out, density with respect to h.
  numerics::Replicates log_evidence;
  /// Bounds on the bias that the finite inner integration leaves in gain and growth.
  std::vector<double> gain_bias;
  std::vector<double> growth_bias;
};

/// Expectations over the output channel at given overlaps. They do not depend on alpha, so that one
/// evaluation serves every sample ratio. The same points at every call: solvers see a smooth,
/// deterministic function, and the scatter of a solution over replicates is its error.
class Channel {
 public:
  Channel(const DeepAttention& model, const ChannelOptions& options);

  /// `variance`: V_l in (0, 1], one per layer. Costs replicates x points x 2 posteriors.
  [[nodiscard]] ChannelInformation at(std::span<const double> variance,
                                      const Context& context) const;

  [[nodiscard]] const DeepAttention& model() const { return model_; }
  [[nodiscard]] const ChannelOptions& options() const { return options_; }

 private:
  DeepAttention model_;
  ChannelOptions options_;
  std::unique_ptr<Posterior> posterior_;
};

}  // namespace onset::smi
