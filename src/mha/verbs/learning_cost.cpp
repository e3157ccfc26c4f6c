#include "mha/verbs/learning_cost.hpp"
#include "core/prose.hpp"

#include <algorithm>
#include <cmath>

namespace onset::mha {

Cost learning_cost(double count, int tokens, int dim, int heads, Inputs inputs) {
  const double d = dim;
  const double m = std::max(heads, 2);
  const double rows = count * tokens;
  // Measured on one core: passes over all rows; programs and singular values in d^2 unknowns; the
  // net's Gram matrix; the polish on some 24 m d rows [mha 32].
  const double fitted = std::max(24.0 * m * d, 400.0);
  const double net = m > 2 ? 253.0 * d : 90.0 * d;
  const double seconds = 13e-9 * rows * (d * d + 40.0 * d) + 1e-7 * std::pow(d, 6.0) +
                         1e-10 * fitted * net * net + 4e-9 * fitted * m * m * std::pow(d, 4.0);
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
