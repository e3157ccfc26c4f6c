#include "smi/limits/branch_end.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

/// A branch that rises to 1.004 and falls to 1, every replicate off by a factor of its own.
std::vector<FixedPointNode> folded_branch() {
  std::vector<FixedPointNode> nodes;
  for (int k = 1; k <= 24; ++k) {
    FixedPointNode node;
    node.position = static_cast<double>(k);
    const double x = (node.position - 8.0) / 3.0;
    for (int r = 0; r < 16; ++r) {
      const double factor = 0.01 * std::sin(1.0 + r);
      node.log_alpha.push_back(0.004 * std::exp(-x * x) + factor);
    }
    nodes.push_back(node);
  }
  return nodes;
}

TEST(BranchEnd, AKnownEndTakesAwayWhatReplicatesHaveInCommon) {
  const auto nodes = folded_branch();
  const Estimate absolute = max_alpha(nodes);
  const Estimate relative = max_alpha(anchored_at_end(nodes, 1.0));
  EXPECT_GT(absolute.error, 1e-3);
  // What is left of the way to the end is below exp(-16); interpolation moves the top a little.
  constexpr double interpolated = 2e-5;
  EXPECT_NEAR(relative.value, std::exp(0.004), interpolated);
  EXPECT_LT(relative.error, 1e-3);
}

TEST(BranchEnd, NoNodeExceedsTheBound) {
  const auto anchored = anchored_at_end(folded_branch(), 2.0);
  EXPECT_GE(upper_bound(anchored), 2.0 * std::exp(0.004) - tolerance::thousands_of_roundings);
  EXPECT_LT(upper_bound(anchored), 2.02);
}

}  // namespace
}  // namespace onset::smi
