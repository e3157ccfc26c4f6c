#include "mha/learners/sculpt/least_inflation.hpp"

#include <cmath>

#include "numerics/linear_algebra/linear_program.hpp"

namespace onset::mha {

using numerics::LinearProgram;
using numerics::unbounded;

// The program is solved as its dual, max b.(u - v) with A^T (u - v) = 0 and tau.(u + v) <= 1, whose
// basis has dim^2 + 1 rows instead of two for every slab; theta is read from the multipliers.
Inflation least_inflation(const Body& body, const Context& context) {
  const auto slabs = static_cast<std::size_t>(body.centre.size());
  const auto unknowns = static_cast<std::size_t>(body.normals.cols());
  if (slabs == 0) return {};
  const double unit = body.tolerance.mean();
  if (!(unit > 0.0)) return {};
  const std::size_t columns = 2 * slabs;
  LinearProgram program;
  program.cost.resize(columns);
  program.lower.assign(columns, 0.0);
  program.upper.assign(columns, unbounded);
  program.matrix.assign((unknowns + 1) * columns, 0.0);
  program.row_lower.assign(unknowns + 1, 0.0);
  program.row_upper.assign(unknowns + 1, 0.0);
  program.row_lower.back() = -unbounded;
  program.row_upper.back() = 1.0;
  for (std::size_t s = 0; s < slabs; ++s) {
    const auto row = static_cast<Index>(s);
    program.cost[s] = -body.centre[row];
    program.cost[slabs + s] = body.centre[row];
    for (std::size_t j = 0; j < unknowns; ++j) {
      const double normal = body.normals(row, static_cast<Index>(j));
      program.matrix[j * columns + s] = normal;
      program.matrix[j * columns + slabs + s] = -normal;
    }
    program.matrix[unknowns * columns + s] = body.tolerance[row] / unit;
    program.matrix[unknowns * columns + slabs + s] = body.tolerance[row] / unit;
  }
  const numerics::LinearSolution solution =
      numerics::solve(program, numerics::Simplex::primal, context);
  if (!solution.optimal) return {};
  Inflation out{-solution.objective / unit, Vector(static_cast<Index>(unknowns))};
  for (std::size_t j = 0; j < unknowns; ++j) {
    out.point[static_cast<Index>(j)] = -solution.multipliers[j];
  }
  return out;
}

}  // namespace onset::mha
