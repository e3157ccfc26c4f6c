#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/smi/limits/branch.hpp"

namespace onset::smi {

/// How finely the staircase is computed.
struct StaircaseOptions {
  double first_tolerance = 1e-5;  ///< target standard error of the first threshold
  double tolerance = 7e-4;        ///< target standard error of each later one
  /// The largest number of outer points per replicate; there are fewer with more than 256 inner
  /// nodes.
  std::size_t max_points = std::size_t{1} << 17;
  /// Multiplies the number of inner nodes that integrals begin with.
  int node_factor = 1;
  int max_nodes = 1 << 14;         ///< the largest number of inner nodes of a later threshold
  int max_trace_nodes = 2048;      ///< likewise of the branches
  std::size_t root_points = 2048;  ///< outer points of a later threshold, to begin with
  std::size_t slope_points = 128;  ///< outer points with which slopes are measured
  std::size_t trace_points = 256;  ///< outer points per replicate for the branches
  double trace_spacing = 0.125;    ///< the spacing of fixed points on a branch, see trace_branch()
  /// How far the last branch must reach where there is no perfect recovery.
  double alpha_end = 0.0;
  /// Stages that begin above this sample ratio are not followed: what small overlaps grow to below
  /// it is known without them.
  double alpha_stop = std::numeric_limits<double>::infinity();
  /// The number of stages after which the staircase ends, the last of which is not followed; 0
  /// means all.
  std::size_t max_stages = 0;
  /// Log precisions -log(1 - Q_b) at which blocks are held instead of being learned. A negative one
  /// does not hold its block, and an empty list holds none.
  std::vector<double> held = {};
  std::uint64_t seed = 1;
  void validate() const;
};

/// One step: blocks (layers) start to be learned, and the curve of fixed points from there on.
struct StaircaseStep {
  std::vector<std::size_t>
      blocks;            ///< 0-based; several when their growth rates cannot be told apart
  bool trivial = false;  ///< learned from the first sample on
  std::vector<std::size_t> given;  ///< learned at once, given that `blocks` are
  StageStart start;                ///< where the stage begins, at overlap 0 of these blocks
  Estimate alpha;
  Estimate
      jump;  ///< the first block's overlap just above alpha; 0 when the transition is continuous
  /// Growth factor of an overlap across these blocks and those learned before, where the stage
  /// begins: it stays below 1 in size [smi 35]. There is none at the first stage, or without
  /// symmetry.
  std::optional<Estimate> cross_growth;
  Branch branch;  ///< up to the next step, or to perfect recovery
};

/// The last stage of a staircase that ends after a given number of them: where it begins.
struct UnfollowedStage {
  std::vector<std::size_t> blocks;
  bool trivial = false;
  Estimate alpha;
  std::optional<Estimate> cross_growth = {};
};

/// Which block is learned when, given what was learned before [smi 18, 20], until exact recovery.
struct Staircase {
  std::vector<StaircaseStep> steps;
  std::optional<UnfollowedStage> unfollowed = {};  ///< only with max_stages
  numerics::Replicates log_evidence;               ///< Psi where nothing is learned
  double log_evidence_bias = 0.0;                  ///< bound on its bias from inner integration
  /// Blocks that no sample ratio makes learnable from small overlaps, given all others. Empty where
  /// the staircase was stopped.
  std::vector<std::size_t> hard;
  /// The alpha above which Q = I is optimal, by counting [smi 21]; there is none when labels are
  /// discrete or noisy.
  std::optional<double> perfect;
  /// The alpha at the deep end of the last branch: above it state evolution contracts to Q = I. It
  /// agrees with `perfect` where the counting argument is right.
  Estimate contraction;
  /// The largest alpha on the last branch: above it state evolution from small overlaps reaches Q =
  /// I [smi 26]. It is at least `perfect`; where the staircase was stopped, the true one may be
  /// larger.
  Estimate algorithmic;
  bool hard_phase = false;  ///< algorithmic exceeds perfect by more than three standard errors
  /// Where no such excess was found: the true `algorithmic` is below this, at three standard
  /// errors.
  double algorithmic_below = 0.0;
  bool met_tolerance = true;  ///< every threshold's error is within its tolerance
  bool sound = true;          ///< every fixed point was found, and accurately
};

/// Called with every threshold as soon as it is known, for partial results.
using ThresholdFound =
    std::function<void(const std::vector<std::size_t>& blocks, const Estimate& alpha)>;

/// Computes the staircase. The first threshold comes from the model's own rule at overlap 0 where
/// it has one, and otherwise from quasi-Monte Carlo as the others do.
[[nodiscard]] Staircase staircase(const SequenceModel& model, const StaircaseOptions& options,
                                  const Context& context, const ThresholdFound& found = {});

}  // namespace onset::smi
