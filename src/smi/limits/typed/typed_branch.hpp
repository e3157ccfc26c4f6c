#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/limits/typed/typed_channel.hpp"
#include "smi/limits/typed/typed_fixed_point.hpp"

namespace onset::smi {

/// Points of a branch before this log precision per direction scatter so much that a fall of alpha
/// is not claimed; -log(1 - Q) is the log precision of overlap Q.
inline constexpr double early_log_precision = 0.09;

/// How many points a branch has, from its start to where V has all but vanished.
[[nodiscard]] std::size_t branch_points();

/// The fixed points of state evolution of the learned directions of a typed link form a curve in
/// the log precision s = -log det V, along which alpha may fold back [links 3]. The directions of
/// roles.exact are known exactly, and nothing is known of `open`.
class TypedBranch {
 public:
  TypedBranch(const TypedLink& link, TypedRoles roles, Eigen::MatrixXd open, std::uint64_t seed,
              const Context& context);

  struct Point {
    double position = 0.0;     ///< s
    Eigen::MatrixXd variance;  ///< V in the basis of the learned directions
    numerics::Replicates alpha;
    numerics::Replicates
        residual;  ///< alpha nu - 1 of the open directions; empty where there are none
    std::vector<TypedAverages> averages = {};
  };

  [[nodiscard]] Eigen::Index size() const { return roles_.learned.cols(); }
  /// The fixed point at a log precision, from a guess of its V. Lines lie `refinement` times closer
  /// than by default.
  [[nodiscard]] Point at(double position, const Eigen::MatrixXd& guess, std::size_t points,
                         double refinement = 1.0) const;
  /// The mean overlap of some directions at a point.
  [[nodiscard]] double overlap(const Eigen::MatrixXd& variance,
                               const Eigen::MatrixXd& directions) const;

 private:
  [[nodiscard]] std::vector<TypedAverages> averages(const Eigen::MatrixXd& variance,
                                                    std::size_t points, double refinement) const;
  [[nodiscard]] Eigen::MatrixXd variance_at(double position, Eigen::MatrixXd variance,
                                            std::size_t points) const;

  const TypedLink* link_;
  const Context* context_;
  TypedRoles roles_;
  Eigen::MatrixXd open_;
  std::uint64_t seed_;
  std::vector<Eigen::MatrixXd> basis_;  ///< of the matrices that V may be
};

/// The largest eigenvalue of every replicate's growth map, as its Rayleigh quotient with the
/// eigenvector of the others: the largest eigenvalue of a noisy matrix itself is too large.
[[nodiscard]] numerics::Replicates growth_rates(const std::vector<TypedAverages>& averages);
/// The same for the pull.
[[nodiscard]] numerics::Replicates pulls(const std::vector<TypedAverages>& averages);

/// How accurate a sample ratio on a branch is to be.
struct BranchAccuracy {
  double tolerance = 0.0;  ///< relative to the sample ratio where that is above 1
  std::size_t points = 0;  ///< outer points per replicate to begin with
  std::size_t max_points = 0;
};

/// How closely a branch is looked at: more and more, until a sample ratio is accurate.
class BranchEffort {
 public:
  explicit BranchEffort(const BranchAccuracy& wanted) : wanted_(wanted), points_(wanted.points) {}

  [[nodiscard]] std::size_t points() const { return points_; }
  /// Lines lie so many times closer than by default.
  [[nodiscard]] double refinement() const { return refinement_; }
  /// Takes closer lines against the bias of ratios and more points against scatter. False where the
  /// sample ratio that was found is accurate, or where no more may be done.
  [[nodiscard]] bool grow(const Estimate& alpha, double relative_bias);

 private:
  BranchAccuracy wanted_;
  std::size_t points_;
  double refinement_ = 1.0;
};

/// A branch from its beginning, followed point by point as far as somebody asks.
class TypedTrace {
 public:
  TypedTrace(TypedBranch branch, std::size_t points)
      : branch_(std::move(branch)), points_(points) {}

  /// Point k, at log precisions per direction that begin at 0.1. Nothing beyond the end.
  [[nodiscard]] const TypedBranch::Point* at(std::size_t k);
  [[nodiscard]] const TypedBranch& branch() const { return branch_; }
  [[nodiscard]] const std::vector<TypedBranch::Point>& points() const { return found_; }
  /// V at a log precision between two points, to begin with.
  [[nodiscard]] Eigen::MatrixXd guess_at(double position) const;

  /// Whether alpha falls or rises from one sample ratio to a later one, beyond errors: -1, 1, or 0
  /// where that is not resolved.
  [[nodiscard]] static int direction(const Estimate& from, const TypedBranch::Point& to);
  /// The point from which on alpha falls, beyond errors, before point `end`: where state evolution
  /// from small overlaps jumps to a later part of the branch. Nothing where it rises throughout.
  [[nodiscard]] std::optional<std::size_t> fold(std::size_t end) const;
  /// Sample ratio and error at a point.
  [[nodiscard]] static Estimate alpha_of(const TypedBranch::Point& point);
  /// The sample ratio of the top of a fold, which is near point k: looked at more and more closely,
  /// with more and more points, until it is accurate.
  [[nodiscard]] Estimate top(std::size_t k, const BranchAccuracy& wanted);
  /// The mean overlap of some directions where alpha has come back to a value that it had before
  /// point `from`; 1 where it does not before the end.
  [[nodiscard]] Estimate landing(const Estimate& alpha, std::size_t from,
                                 const Eigen::MatrixXd& directions);

 private:
  TypedBranch branch_;
  std::size_t points_;
  std::vector<TypedBranch::Point> found_;
};

/// What the branch of all learned directions says of their exact recovery from a sample ratio on.
struct TypedRecovery {
  bool hard_phase = false;  ///< state evolution from small overlaps reaches it later
  Estimate algorithmic;     ///< where it does
  double below = 0.0;       ///< it does so below this, at three standard errors
};

/// `perfect`: the sample ratio at the end of the branch, by counting.
[[nodiscard]] TypedRecovery recovery_along(TypedTrace& trace, double perfect,
                                           const BranchAccuracy& wanted);

}  // namespace onset::smi
