#pragma once

#include <functional>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/smi/limits/branch.hpp"
#include "onset/smi/limits/uninformed.hpp"

namespace onset::smi {

/// How finely the staircase is computed.
struct StaircaseOptions {
  double first_tolerance = 1e-5;                  ///< wanted standard error of the first threshold
  double tolerance = 7e-4;                        ///< of each later one
  std::size_t max_points = std::size_t{1} << 17;  ///< outer points per replicate, at most
  std::size_t trace_points = 256;                 ///< outer points per replicate for the branches
  int trace_nodes = 20;                           ///< fixed points on the last branch
  std::uint64_t seed = 1;
  void validate() const;
};

/// One step: a layer starts to be learned, and the curve of fixed points from there on.
struct StaircaseStep {
  int layer = 0;     ///< 0-based
  StageStart start;  ///< where the stage begins, at overlap 0 of that layer
  Estimate alpha;
  Estimate jump;  ///< the layer's overlap just above alpha; 0 when the transition is continuous
  Branch branch;  ///< up to the next step, or to perfect recovery
};

/// Which layer is learned when, given what was learned before [smi 18, 20], until exact recovery.
struct Staircase {
  std::vector<StaircaseStep> steps;
  double perfect =
      0.0;  ///< alpha above which Q = I is optimal: layers / tokens, by counting [smi 21]
  /// alpha on the last branch at its deep end: the fixed point Q = I contracts above it. Agrees
  /// with `perfect` where the counting argument is right.
  Estimate contraction;
  /// The largest alpha on the last branch: above it state evolution from small overlaps reaches Q =
  /// I [smi 26]. At least `perfect`.
  Estimate algorithmic;
  bool hard_phase = false;    ///< algorithmic exceeds perfect by more than three standard errors
  bool met_tolerance = true;  ///< every threshold's error is within its tolerance
  bool sound = true;          ///< every fixed point was found, and accurately
};

/// One layer, or two layers of two tokens; Refused for other models. Last layer first.
/// `found` is told every threshold as soon as it is known (for partial results).
[[nodiscard]] Staircase staircase(
    const DeepAttention& model, const StaircaseOptions& options, const Context& context,
    const std::function<void(int layer, const Estimate& alpha)>& found = {});

}  // namespace onset::smi
