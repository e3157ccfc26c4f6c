#pragma once

#include <memory>
#include <vector>

#include "onset/smi/model/sequence_model.hpp"

namespace onset::smi {

/// Several layers of attention of two tokens with query and key weights of their own [smi 98]:
/// block 2 l - 1 has the queries of layer l, block 2 l its keys. Only the channel at overlap 0 is
/// at hand, and with it the first threshold: posterior() throws Refused.
struct DeepUntied {
  int layers = 2;
  double beta = 1.0;
  std::vector<double> skip = {1.0};  ///< one for all, or one per layer
  [[nodiscard]] double skip_of(int layer) const {
    return skip.size() == 1 ? skip.front() : skip[static_cast<std::size_t>(layer)];
  }
};

/// Throws Refused where there are more layers than the lattice of inner fields has room for.
[[nodiscard]] std::unique_ptr<SequenceModel> deep_untied_model(const DeepUntied& model);

}  // namespace onset::smi
