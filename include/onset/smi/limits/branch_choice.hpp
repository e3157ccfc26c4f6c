#pragma once

#include <string_view>

namespace onset::smi {

/// Which fixed point of state evolution is meant where there are several.
enum class BranchChoice {
  uninformed,  ///< reached from small overlaps: what message passing does
  informed,    ///< reached from the truth
  optimal,     ///< the one of largest free entropy: Bayes-optimal
};

[[nodiscard]] std::string_view to_string(BranchChoice choice);

}  // namespace onset::smi
