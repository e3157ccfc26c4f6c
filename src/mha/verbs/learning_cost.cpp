#include "mha/verbs/learning_cost.hpp"
#include "core/prose.hpp"

#include <algorithm>
#include <cmath>

namespace onset::mha {

Cost learning_cost(double count, int tokens, int dim, int heads, Inputs inputs) {
  const double d = dim;
  const double m = std::max(heads, 2);
  const double rows = count * tokens;
  const double passes = 40.0;
  // Measured on one core: scoring passes, linear programs and least-distance programme, polish.
  const double seconds = passes * rows * (d * d + 40.0 * d) * 1e-9 + 8.0 * std::pow(d / 16.0, 6.0) +
                         10.0 * 2.0 * 24.0 * m * d * std::pow(m * d * d, 2.0) * d * 1e-10;
  // Real inputs have eight bytes an entry, and as much again where repeats are looked for.
  const double entry = inputs == Inputs::boolean ? 9.0 : 24.0;
  const double bytes = rows * (entry * d + 40.0) + 8.0 * (8.0 * d * d * d * d + 4e3 * m * d * d) +
                       (m > 2 ? 8.0 * std::pow(253.0 * d, 2.0) : 0.0) + 5e7;
  return {prose(R"(
      Six phases: a crude sum of projections by least squares; slabs that every head obeys, from
      rows in which the heads attend alike; a minimum-norm proxy, large margins and a trimmed
      Gauss-Newton refinement; the affine hull of the heads by singular vectors, cross-checked
      by linear programs; a net on the hull with every tuple's least squares; then w, and a
      polish by variable projection.)"),
          seconds, bytes};
}

}  // namespace onset::mha
