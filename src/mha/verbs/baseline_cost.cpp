#include "mha/verbs/baseline_cost.hpp"

#include <algorithm>

namespace onset::mha {

double baseline_seconds(const BaselineBudget& budget, int tokens, int dim) {
  const double d = dim;
  const double m = budget.heads;
  const double k = tokens;
  // A Jacobian's normal equations on some 24 m d rows [mha 32].
  const double rows = std::max(24.0 * m * d, 400.0);
  const double step = 4e-10 * rows * m * m * d * d * d * d;
  // Most starts end after some 20 Jacobians, by success or for want of progress.
  const double steps = std::min(budget.lm_steps, 20);
  const double example = 5e-9 * m * k * d * (d + k) + 5e-7 * m;
  return budget.starts * (steps * step + budget.adam_steps * 64.0 * example);
}

}  // namespace onset::mha
