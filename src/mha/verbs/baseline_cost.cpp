#include "mha/verbs/baseline_cost.hpp"

#include <algorithm>

namespace onset::mha {

double baseline_seconds(const BaselineBudget& budget, int tokens, int dim) {
  const double d = dim;
  const double m = budget.heads;
  const double k = tokens;
  // A Jacobian's normal equations: rows x unknowns^2 for each output [mha 21].
  const double rows = std::max(24.0 * m * d, 400.0);
  const double unknowns = m * d * d;
  const double step = 1.5e-10 * rows * unknowns * unknowns * d;
  // Most starts end after some 20 Jacobians, by success or for want of progress.
  const double steps = std::min(budget.lm_steps, 20);
  const double example = 5e-9 * m * k * d * (d + k) + 2e-6 * m;
  return budget.starts * (steps * step + budget.adam_steps * 64.0 * example);
}

}  // namespace onset::mha
