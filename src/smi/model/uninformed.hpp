#pragma once

#include <cstdint>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/numerics/replicates.hpp"
#include "onset/smi/model/deep_attention.hpp"

namespace onset::smi {

/// How finely the channel at overlap 0 is integrated.
struct UninformedOptions {
  std::size_t nodes = 4096;  ///< inner lattice points per replicate; a power of two up to 2^16
  int replicates = numerics::default_replicates;
  std::uint64_t seed = 1;
  void validate() const;
};

/// The channel where nothing is learned yet [smi 17-18].
struct Uninformed {
  /// F_l = E_y ||E[z_l z_l^T | y] - I||_F^2: a small overlap of layer l grows when alpha F_l > 1.
  std::vector<numerics::Replicates> growth;
  numerics::Replicates log_evidence;  ///< Psi at overlap 0
  numerics::Replicates mass;          ///< integral of the label's density: 1 up to the rule's error
  numerics::Replicates last_norm;     ///< E|z_L|^2: the number of tokens, likewise
  /// Relative error of each growth rate from the outer grid, from a grid twice as coarse.
  std::vector<double> grid_error;
};

/// Whether uninformed_channel() serves the model: one layer, or two tokens; rank one, no noise and
/// independent tokens.
[[nodiscard]] bool has_uninformed_rule(const DeepAttention& model);

/// One layer: closed form. Two tokens: a deterministic trapezoid rule over the label's plane, the
/// inner fields by one shifted lattice shared by all labels. Throws Refused for other models. Costs
/// about 1500 x nodes x replicates exponentials.
[[nodiscard]] Uninformed uninformed_channel(const DeepAttention& model,
                                            const UninformedOptions& options,
                                            const Context& context);

}  // namespace onset::smi
