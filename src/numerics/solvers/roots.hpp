#pragma once

#include <functional>
#include <vector>

#include "onset/core/status.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::numerics {

/// Options of the bracketed solvers.
struct RootOptions {
  double tolerance = 1e-12;  ///< the width of the bracket, relative to max(1, |x|)
  int max_evaluations = 100;
  void validate() const;
};

struct Root {
  double x = 0.0;
  Status status;  ///< its residual is the width of the last bracket
};

/// The root of f in [low, high], where f changes sign (TOMS 748). Throws InvalidArgument when it
/// does not. Evaluations are counted as iterations.
[[nodiscard]] Root bracketed_root(const std::function<double(double)>& f, double low, double high,
                                  const RootOptions& options = {});

/// Row 0 has the residual of every replicate at x; further rows have quantities wanted at the root.
using ReplicatedFunction = std::function<std::vector<Replicates>(double x)>;

struct ReplicatedRoot {
  Replicates x;                   ///< every replicate's own root
  std::vector<Replicates> rows;   ///< the further rows, each replicate at its own root
  double slope = 0.0;             ///< the slope of the mean residual
  std::vector<double> row_slope;  ///< the slopes of the further rows' means
  Status status;                  ///< its residual is the mean residual at the last x
};

/// The root of each replicate of a noisy but deterministic function, at little more than the cost
/// of one root: secant steps inside the bracket bring the mean residual close to 0, and each
/// replicate then takes one secant step of its own from the last two points. What that neglects is
/// of second order in the scatter. `tolerance` is the allowed distance of the last point from the
/// mean's root.
[[nodiscard]] ReplicatedRoot replicated_root(const ReplicatedFunction& f, double low, double high,
                                             const RootOptions& options);

}  // namespace onset::numerics
