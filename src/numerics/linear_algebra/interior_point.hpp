#pragma once

#include "numerics/linear_algebra/linear_program.hpp"

namespace onset::numerics {

/// Solves a linear program by Mehrotra's predictor-corrector method, which takes some fifteen
/// symmetric systems of the size of x whatever the number of rows: for dense programs with a
/// thousand unknowns it is far faster than a simplex method. The program must have points strictly
/// inside its bounds and an optimum; otherwise the solution is not `optimal`. The objective is then
/// exact to about 1e-9 of its size, and where several points have it, x lies between them. It has
/// the same bits for any number of threads. Throws InvalidArgument when sizes do not fit,
/// Interrupted on request.
[[nodiscard]] LinearSolution solve_inside(const LinearProgram& program, const Context& context);

/// The point of least length within the bounds of a program, whose cost is not looked at, by the
/// same method. The objective is half the square of its length.
[[nodiscard]] LinearSolution nearest_to_zero(LinearProgram program, const Context& context);

}  // namespace onset::numerics
