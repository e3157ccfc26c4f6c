#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "aim/limits/erm/fixed_point.hpp"
#include "aim/limits/erm/quadratic.hpp"
#include "aim/limits/erm/training_output.hpp"
#include "aim/model/attention_indexed.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/core/status.hpp"

namespace onset::aim {

/// What is known of the replica-symmetric equations at a point [aim 101, 102].
enum class Validity {
  exact,        ///< the problem is convex
  stable,       ///< not convex, but single samples have one minimum each and the solution is stable
  approximate,  ///< up to 1 % of samples have several minima, or the solution is not stable
  unreliable,   ///< more have
  zero,         ///< the decay leaves S = 0
};
[[nodiscard]] std::string_view to_string(Validity validity);

/// Where training with weight decay ends, in the limit of large d. What does not exist is empty.
struct TrainedPoint {
  double alpha = 0.0;
  Estimate decay;
  std::optional<Estimate> mse;     ///< ||S - S0||_F^2/d; hardmax labels do not fix the length of S
  Estimate train;                  ///< loss of a training sample
  Estimate test;                   ///< error of a new sample with noise in its label
  Estimate test_clean;             ///< of one without
  Estimate objective;              ///< alpha train + decay P/d
  std::optional<Estimate> bound;   ///< of the objective: that of some S; not for quadratic losses
  Estimate overlap;                ///< m = Tr(S S0)/d
  Estimate norm;                   ///< q = Tr S^2/d
  std::optional<Estimate> cosine;  ///< m / sqrt(q Q0)
  Estimate trace;
  Estimate penalty;              ///< P/d
  std::optional<Estimate> rank;  ///< share of eigenvalues that are not 0; not for ridge
  Estimate delta;
  std::optional<Estimate> threshold;
  Estimate scale;
  std::optional<Estimate> chi;       ///< empty where infinite
  std::optional<Estimate> replicon;  ///< below 1: stable
  Estimate bistable;
  Validity validity = Validity::exact;
  Status status;

  /// Whether the objective is clearly above its bound: then this is no minimum [aim 110].
  [[nodiscard]] bool too_high() const;
};

/// Training of a student on the labels of a model: the minimum of loss and penalty [aim 80].
class Training {
 public:
  /// Throws InvalidArgument naming `loss` where it does not go with the channel, and Refused where
  /// the equations do not reduce to scalars.
  Training(const AttentionIndexed& model, TrainingLoss loss, Penalty penalty, std::uint64_t seed);

  /// The minimum at a decay >= 0, 0 meaning the limit of small ones. `start` has the conjugates of
  /// a neighbour, or nothing, and is left at those of this point.
  [[nodiscard]] TrainedPoint at(double alpha, double decay, Conjugates& start,
                                const Context& context) const;
  /// The minimum at the best decay.
  [[nodiscard]] TrainedPoint best(double alpha, DecayGoal goal, const Context& context) const;
  /// The smallest decay that leaves S = 0 [aim 94]; infinite for ridge.
  [[nodiscard]] Estimate max_decay(double alpha) const;

  /// Closed forms, or two scalars at most: microseconds and no error but rounding.
  [[nodiscard]] bool quadratic() const { return output_ == nullptr; }
  [[nodiscard]] bool sampled() const { return output_ && output_->replicated(); }
  [[nodiscard]] bool convex() const;
  /// 2 alpha D / alpha: scores that a label shows, twice [aim 80].
  [[nodiscard]] double equations_per_alpha() const;
  [[nodiscard]] QuadraticProblem quadratic_problem(double alpha) const;

 private:
  [[nodiscard]] TrainedPoint quadratic_point(double alpha, const QuadraticMinimum& minimum) const;
  [[nodiscard]] TrainedPoint solved_point(double alpha, double decay, Conjugates& start,
                                          const Context& context) const;
  [[nodiscard]] TrainedPoint without_decay(double alpha, Conjugates& start,
                                           const Context& context) const;
  [[nodiscard]] Estimate attainable(double alpha, const PenaltyTerm& penalty) const;
  [[nodiscard]] Estimate label_entropy() const;
  [[nodiscard]] double best_decay(double alpha, DecayGoal goal, const Context& context) const;
  [[nodiscard]] Estimate sampled_best_decay(double alpha, double coarse, DecayGoal goal,
                                            const Context& context) const;
  /// Labels that leave the length of S open, and so few that no decay may be the best.
  [[nodiscard]] bool few_hardmax_labels(double alpha) const;
  [[nodiscard]] double goal_of(const RuleSolution& s, DecayGoal goal) const;
  void check_best(const TrainedPoint& point, Conjugates start, const Context& context) const;
  void judge(TrainedPoint& point) const;

  AttentionIndexed model_;
  TrainingLoss loss_;
  Penalty penalty_;
  std::unique_ptr<const TrainingOutput> output_;  ///< none for quadratic losses
};

}  // namespace onset::aim
