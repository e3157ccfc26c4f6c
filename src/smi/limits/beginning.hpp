#pragma once

#include <span>
#include <vector>

#include "onset/smi/limits/channel.hpp"
#include "onset/smi/limits/uninformed.hpp"

namespace onset::smi {

/// A pull or a growth rate below this is rounding error: both are squares of moments, which are
/// known to 1e-8 or better. The loudest noise that is allowed leaves 1e-11.
inline constexpr double least_rate = 1e-15;

/// What is known where nothing is learned, whoever computed it.
struct Beginning {
  std::vector<numerics::Replicates> growth;  ///< empty for blocks that are held
  std::vector<numerics::Replicates> pull;    ///< gain at overlap 0
  numerics::Replicates log_evidence;
  std::vector<double> relative_bias;  ///< of the growth rates
  double log_evidence_bias = 0.0;
};

/// Of two-token attention, by the trapezoid rule over the label's plane.
[[nodiscard]] Beginning deterministic_beginning(const DeepAttention& model,
                                                const UninformedOptions& options,
                                                const Context& context);

/// Of any model, by quasi-Monte Carlo; `variance` is below 1 for blocks that are held.
[[nodiscard]] Beginning sampled_beginning(const SequenceModel& model, const ChannelOptions& options,
                                          std::span<const double> variance, const Context& context);

}  // namespace onset::smi
