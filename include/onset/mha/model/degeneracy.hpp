#pragma once

#include <string_view>

namespace onset::mha {

/// Ways in which a layer can hide its heads from the six phases [mha 24].
enum class Degeneracy {
  none,
  cancelling,    ///< the last w is pulled towards minus the sum of the others
  proportional,  ///< every w is pulled towards a multiple of the first
  parity,        ///< heads that compute a parity, with alternating signs of one w
};

[[nodiscard]] std::string_view to_string(Degeneracy degeneracy);

}  // namespace onset::mha
