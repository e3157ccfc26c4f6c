#include "mha/learners/sculpt/least_inflation.hpp"

#include "numerics/linear_algebra/interior_point.hpp"

namespace onset::mha {

using numerics::LinearProgram;
using numerics::unbounded;

Inflation least_inflation(const Body& body, const Context& context) {
  const auto slabs = static_cast<std::size_t>(body.centre.size());
  const auto unknowns = static_cast<std::size_t>(body.normals.cols());
  if (slabs == 0) return {};
  const double unit = body.tolerance.mean();
  if (!(unit > 0.0)) return {};
  // Unknowns are theta, and the inflation in units of 1/unit; each slab has a row for either side.
  LinearProgram program;
  program.cost.assign(unknowns + 1, 0.0);
  program.cost.back() = 1.0;
  program.lower.assign(unknowns + 1, -unbounded);
  program.upper.assign(unknowns + 1, unbounded);
  program.matrix.reserve(2 * slabs * (unknowns + 1));
  for (const double side : {-1.0, 1.0}) {
    for (std::size_t s = 0; s < slabs; ++s) {
      const auto row = static_cast<Index>(s);
      const double* normal = body.normals.row(row).data();
      program.matrix.insert(program.matrix.end(), normal, normal + unknowns);
      program.matrix.push_back(side * body.tolerance[row] / unit);
      program.row_lower.push_back(side > 0.0 ? body.centre[row] : -unbounded);
      program.row_upper.push_back(side > 0.0 ? unbounded : body.centre[row]);
    }
  }
  const numerics::LinearSolution solution = numerics::solve_inside(program, context);
  if (!solution.optimal) return {};
  return {solution.objective / unit,
          Eigen::Map<const Vector>(solution.x.data(), body.normals.cols())};
}

}  // namespace onset::mha
