#pragma once

#include <optional>

#include "onset/core/context.hpp"
#include "onset/smi/model/sequence_model.hpp"

namespace onset::smi {

/// The channel at overlap 0 as an integral over the label, where that is a single number and its
/// posterior is exact: at overlap 0 a posterior depends on the label only. Values that repeat among
/// random labels are atoms, of which log Z is the log probability; the rest has log Z for its log
/// density, and is integrated over panels that are halved until nothing changes. Nothing where this
/// does not apply, or where the probabilities do not sum to 1.
[[nodiscard]] std::optional<ChannelAtZero> label_integral_at_zero(const SequenceModel& model,
                                                                  const Context& context);

}  // namespace onset::smi
