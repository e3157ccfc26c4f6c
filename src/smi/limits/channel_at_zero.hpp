#pragma once

#include <span>
#include <vector>

#include "onset/smi/limits/channel.hpp"
#include "onset/smi/model/channel_at_zero.hpp"

namespace onset::smi {

/// A pull or a growth rate below this is rounding error: both are squares of moments, which are
/// known to 1e-8 or better. The strongest noise that is allowed leaves 1e-11.
inline constexpr double min_rate = 1e-15;

/// Computes it by quasi-Monte Carlo; `variance` is below 1 for blocks that are held.
[[nodiscard]] ChannelAtZero sampled_channel_at_zero(const SequenceModel& model,
                                                    const ChannelOptions& options,
                                                    std::span<const double> variance,
                                                    const Context& context);

}  // namespace onset::smi
