#pragma once

#include <cstdint>
#include <vector>

#include "onset/numerics/replicates.hpp"

namespace onset::smi {

/// The channel at overlap 0: the start of every staircase, by whichever rule computed it.
struct ChannelAtZero {
  /// F_b = E||E[z_b z_b^T | y] - I||^2 of every block: a small overlap grows when alpha F_b > 1.
  /// Empty for blocks that are held.
  std::vector<numerics::Replicates> growth;
  /// E|E[z_b | y]|^2: above 0 a block is learned from the first samples on.
  std::vector<numerics::Replicates> pull;
  numerics::Replicates log_evidence;  ///< Psi at overlap 0
  std::vector<double> relative_bias;  ///< that of the growth rates
  double log_evidence_bias = 0.0;
};

/// How finely a model's own rule integrates it.
struct RuleAtZero {
  std::size_t nodes = 4096;  ///< inner lattice points per replicate; a power of two
  std::uint64_t seed = 1;
};

}  // namespace onset::smi
