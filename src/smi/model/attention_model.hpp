#pragma once

#include <memory>

#include "onset/smi/model/deep_attention.hpp"
#include "onset/smi/model/sequence_model.hpp"

namespace onset::smi {

/// Deep attention as a sequence multi-index model: one block per layer; the label is described by
/// u_L (noise added), the prediction is the attention matrix.
[[nodiscard]] std::unique_ptr<SequenceModel> attention_model(const DeepAttention& model);

}  // namespace onset::smi
