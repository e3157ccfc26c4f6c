#pragma once

#include <optional>
#include <vector>

#include "aim/limits/erm/training_output.hpp"
#include "onset/core/context.hpp"
#include "onset/core/status.hpp"

namespace onset::aim {

/// A solution by one rule: the student, and the averages of the output side at it.
struct RuleSolution {
  std::size_t rule = 0;
  Conjugates hats;
  StudentAtMinimum student;
  OutputMoments moments;
};

/// A fixed point of [aim 82] and [aim 83], solved by the rules of the output side.
struct FixedPoint {
  std::vector<RuleSolution> solutions;  ///< finer grids, or every replicate
  Status status;                        ///< residual: of the logarithms of the conjugates
  /// Relative distance of the conjugates from the fixed point: small where it converged, and what
  /// jumps of single samples leave where they keep it from converging.
  double distance = 0.0;
};

/// Solves for the three conjugates in logarithms: Newton's method on the coarse rule, from
/// `start`, from the student that learned nothing or from one that learned nearly everything, in
/// steps of the decay where a direct way fails; then by the fine rules with the coarse derivatives.
/// `start` is replaced by the conjugates that were found, for a neighbour.
[[nodiscard]] FixedPoint fixed_point(const TrainingOutput& output, const PenaltyTerm& penalty,
                                     double alpha, Conjugates& start, const Context& context);

/// The same by the coarse rule alone, some tens of milliseconds for two tokens: enough to look for
/// the best decay. Nothing where it fails.
[[nodiscard]] std::optional<RuleSolution> coarse_fixed_point(const TrainingOutput& output,
                                                             const PenaltyTerm& penalty,
                                                             double alpha, Conjugates& start,
                                                             const Context& context);

/// The multiple zeta S0 of the teacher that has the least objective, by the coarse rule [aim 110].
struct TeacherMultiple {
  double zeta = 0.0;
  double penalty = 0.0;  ///< P/d
};
[[nodiscard]] TeacherMultiple best_multiple(const TrainingOutput& output,
                                            const PenaltyTerm& penalty, double alpha);

/// Conjugates of a student that is 0: where every path of decays begins [aim 94].
[[nodiscard]] Conjugates nothing_learned(const TrainingOutput& output, double alpha,
                                         std::size_t rule);
/// The smallest decay that leaves nothing, by one rule; infinite for ridge.
[[nodiscard]] double max_decay(const TrainingOutput& output, const PenaltyTerm& penalty,
                               double alpha, std::size_t rule);

}  // namespace onset::aim
