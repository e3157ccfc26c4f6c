#pragma once

namespace onset::mha {

/// What plain optimisation from random starts is asked to do.
struct BaselineBudget {
  int heads = 2;
  int starts = 4;
  int lm_steps = 60;
  int adam_steps = 2500;
};

/// Estimated core-seconds on examples of so many tokens.
[[nodiscard]] double baseline_seconds(const BaselineBudget& budget, int tokens, int dim);

}  // namespace onset::mha
