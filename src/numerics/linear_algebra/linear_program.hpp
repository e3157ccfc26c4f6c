#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "onset/core/context.hpp"

namespace onset::numerics {

inline constexpr double unbounded = std::numeric_limits<double>::infinity();

/// minimise cost . x  subject to  row_lower <= A x <= row_upper,  lower <= x <= upper; A is dense
/// and row-major, rows x columns. An infinite bound is no bound.
struct LinearProgram {
  std::vector<double> cost;
  std::vector<double> lower;
  std::vector<double> upper;
  std::vector<double> matrix;
  std::vector<double> row_lower;
  std::vector<double> row_upper;
};

/// Throws InvalidArgument when the sizes of a program do not fit one another.
void check_sizes(const LinearProgram& program);

/// Which simplex method: primal where zero is feasible, dual where every cost is bounded.
enum class Simplex { primal, dual };

struct LinearSolution {
  bool optimal = false;
  bool infeasible = false;
  double objective = 0.0;
  std::vector<double> x;
  /// d objective / d (bound of a row). They prove optimality: objective = bounds . multipliers.
  std::vector<double> multipliers;
};

/// Solves it with Clp's simplex method on one thread. Throws InvalidArgument when sizes do not fit,
/// Interrupted on request. A solution that is neither optimal nor infeasible has run into numerical
/// trouble.
[[nodiscard]] LinearSolution solve(const LinearProgram& program, Simplex method,
                                   const Context& context);

}  // namespace onset::numerics
