#pragma once

#include <functional>
#include <span>
#include <vector>

#include "onset/numerics/interpolation.hpp"
#include "onset/smi/limits/fixed_points.hpp"

namespace onset::smi {

/// Where a stage of learning begins: one value per replicate.
struct StageStart {
  std::vector<numerics::Replicates> log_precision;  ///< a_b per block
  /// The logarithm of the threshold. When `from_nothing`, a block is learned from the first sample
  /// on, and this is the limit of log(alpha / (1 - e^-s)) at log precision s = 0.
  numerics::Replicates log_alpha;
  bool from_nothing = false;
  numerics::Replicates log_evidence;  ///< Psi [smi 22]
  double relative_bias = 0.0;         ///< bound on the bias of alpha
  double log_precision_scale = 2.5;   ///< over which the start of the stage is resolved

  [[nodiscard]] double position(std::size_t replicate) const;  ///< total log precision
};

/// The fixed points of one stage, as a smooth curve for every replicate [smi 19]. The curve is
/// computed once, and every sample ratio is read off it.
class Branch {
 public:
  /// A point on the curve of one replicate.
  struct Point {
    std::vector<double> log_precision;
    double log_evidence = 0.0;
  };

  /// Takes nodes by increasing position, beyond the start; `rank` has the number of directions of
  /// each block.
  Branch(const std::vector<int>& rank, const StageStart& start,
         const std::vector<FixedPointNode>& nodes);

  /// The stable fixed points of a replicate at this sample ratio, those at which alpha rises along
  /// the curve, from the least to the most learned.
  [[nodiscard]] std::vector<Point> stable_points(std::size_t replicate, double log_alpha) const;

  /// The point where the curve of a replicate is at this total log precision.
  [[nodiscard]] Point at_position(std::size_t replicate, double position) const;

  /// The last node of a replicate, and the logarithm of its sample ratio.
  [[nodiscard]] Point deepest(std::size_t replicate) const;
  [[nodiscard]] double last_log_alpha(std::size_t replicate) const;

  /// A bound on the relative error of alpha from interpolation and from inner integration.
  [[nodiscard]] double relative_bias() const { return relative_bias_; }

  /// The same for the overlaps near this total log precision: there a bias of any one layer's gain
  /// counts, and the gain of a layer that has just started to be learned is a small part of the
  /// sum.
  [[nodiscard]] double overlap_bias(double position) const;

 private:
  /// The curve in the coordinate x = log(1 + log precision since the start / log_precision_scale),
  /// in which the nodes are evenly spaced.
  struct Curve {
    double start = 0.0;
    std::vector<double> x;
    std::vector<double> log_alpha_nodes;
    numerics::Interpolant smooth_log_alpha;  ///< what log_alpha() interpolates
    std::vector<numerics::Interpolant> log_precision;
    double log_evidence_start = 0.0;
    double log_precision_scale = 1.0;
    bool from_nothing = false;

    [[nodiscard]] double log_alpha(double at) const;
  };

  [[nodiscard]] static Curve make_curve(const StageStart& start,
                                        const std::vector<FixedPointNode>& nodes,
                                        std::size_t replicate);
  [[nodiscard]] Point point(const Curve& curve, double x) const;

  std::vector<int> rank_;
  std::vector<Curve> curves_;
  std::vector<double> positions_;   // of the nodes
  std::vector<double> layer_bias_;  // the largest relative bias of a layer's gain, per node
  double interpolation_error_ = 0.0;
  double relative_bias_ = 0.0;
};

/// Which fixed points of a stage are wanted, and what they are computed with.
struct BranchTrace {
  /// Two or more channels with a growing number of inner nodes. The next one takes over where the
  /// nodes of the one before are too few; some fixed points are computed with both, so that bounds
  /// on bias cover what changes.
  std::span<const Channel> channels;
  const Channel& slopes;
  const std::vector<bool>& learned;
  const StageStart& start;
  double spacing = 0.0;  ///< in the coordinate in which a Branch interpolates
  int max_nodes = 0;
};

/// Solves for fixed points one after the other from the start of the stage on, until `enough`
/// accepts the last one or the largest number is reached. Points that turn out not to be fixed,
/// since at this resolution the branch begins only further on, are left out.
[[nodiscard]] std::vector<FixedPointNode> trace_branch(
    const BranchTrace& trace, const std::function<bool(const std::vector<FixedPointNode>&)>& enough,
    const Context& context);

}  // namespace onset::smi
