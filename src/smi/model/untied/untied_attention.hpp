#pragma once

#include <memory>

#include "onset/smi/model/sequence_model.hpp"

namespace onset::smi {

/// One layer of attention with query and key weights of their own: y = softmax_rows(beta q k^T),
/// with the fields q (block 1) and k (block 2) of all tokens [smi 89]. A label fixes the products
/// q_i (k_j - k_l): 2 M - 2 numbers.
struct UntiedAttention {
  int tokens = 2;
  double beta = 1.0;
  /// Throws InvalidArgument naming the wrong field and what is allowed.
  void validate() const;
};

[[nodiscard]] std::unique_ptr<SequenceModel> untied_model(const UntiedAttention& model);

}  // namespace onset::smi
