#pragma once

#include <memory>

#include "onset/device/kind.hpp"
#include "onset/smi/model/deep_attention.hpp"
#include "onset/smi/model/sequence_model.hpp"

namespace onset::smi {

/// Deep attention as a sequence multi-index model: one block per layer; the label is described by
/// u_L (noise added), the prediction is the attention matrix. `device` computes the sums of its
/// posteriors, of a model that has_device_posterior().
[[nodiscard]] std::unique_ptr<SequenceModel> attention_model(
    const DeepAttention& model, device::DeviceKind device = device::DeviceKind::cpu);

}  // namespace onset::smi
