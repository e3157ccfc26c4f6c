#pragma once

#include <functional>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/status.hpp"

namespace onset::numerics {

using Vector = std::vector<double>;
using VectorMap = std::function<Vector(const Vector&)>;

/// Options of fixed_point().
struct FixedPointOptions {
  double tolerance = 1e-10;  ///< on max_i |F(x)_i - x_i|
  int max_iterations = 1000;
  double damping = 0.0;  ///< x <- (1 - damping) F(x) + damping x; in [0, 1)
  /// Iterations over which the residual must fall by 1 %, else the iteration has stagnated.
  int stagnation_window = 50;
  void validate() const;
};

struct FixedPoint {
  Vector x;
  Status status;
};

/// Plain (damped) iteration x <- F(x): it goes where the algorithm goes, to stable points only,
/// which accelerated schemes do not guarantee. Ends as converged, stagnated, max_iterations, or
/// diverged (an iterate is not finite).
[[nodiscard]] FixedPoint fixed_point(const VectorMap& map, Vector start,
                                     const FixedPointOptions& options, const Context& context);

/// Spectral radius of the Jacobian of F at x, by central differences of relative step `step`: below
/// 1 the point attracts. Costs 2 dim(x) evaluations.
[[nodiscard]] double contraction(const VectorMap& map, const Vector& x, double step = 1e-5);

}  // namespace onset::numerics
