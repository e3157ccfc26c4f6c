#pragma once

#include <functional>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/core/status.hpp"
#include "onset/smi/limits/branch_choice.hpp"
#include "onset/smi/limits/staircase.hpp"

namespace onset::smi {

struct CurveOptions {
  BranchChoice choice = BranchChoice::uninformed;
  double tolerance = 5e-3;                        ///< target standard error of every overlap
  std::size_t max_points = std::size_t{1} << 15;  ///< outer points per replicate, at most
  std::size_t error_points = 8192;                ///< points of the prediction errors
  /// Blocks whose overlaps are set to 0 in the prediction errors and in the result, to show what
  /// the others are worth alone [smi 25].
  std::vector<std::size_t> unlearned = {};
  /// Overlaps in [0, 1) at which blocks are held instead of being learned, one per block. A
  /// negative one does not hold its block, and an empty list holds none.
  std::vector<double> held = {};
  std::uint64_t seed = 1;
  void validate() const;
};

/// State evolution's fixed point at one sample ratio.
struct CurvePoint {
  double alpha = 0.0;
  std::vector<Estimate> overlap;  ///< Q_ll, one per block
  Estimate error_plugin;
  Estimate error_bayes;
  Estimate free_entropy;  ///< Phi; +infinity where Q = I
  /// How far one step of plain state evolution, with other integration points, moves from the
  /// point.
  Status status;
};

struct BayesCurve {
  std::vector<CurvePoint> points;
  bool met_tolerance = true;  ///< also requires that every fixed point of the staircase was found
};

/// The curve at the given sample ratios alpha = N/D. All are read off one staircase, so that the
/// cost hardly depends on their number. `finished` is called after every point, in order, for
/// partial results.
[[nodiscard]] BayesCurve bayes_curve(const SequenceModel& model, std::span<const double> alphas,
                                     const CurveOptions& options, const Context& context,
                                     const std::function<void(const CurvePoint&)>& finished = {});

}  // namespace onset::smi
