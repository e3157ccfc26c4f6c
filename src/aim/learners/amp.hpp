#pragma once

#include <cstddef>
#include <vector>

#include "aim/model/attention_indexed.hpp"
#include "aim/model/data.hpp"
#include "onset/core/context.hpp"
#include "onset/core/status.hpp"

namespace onset::aim {

/// Options of approximate_message_passing().
struct AmpOptions {
  int max_iterations = 500;
  /// The tolerance for the step ||S_hat' - S_hat||_F^2 / d, and for the drift of two steps as it
  /// would be without damping, both in units of the variance. The variance itself must be within a
  /// tenth of the square root of the tolerance.
  double tolerance = 1e-4;
  /// The share of the old estimate and omega that is kept; of the old variance half of the rest is
  /// kept as well. Rank-one token matrices at finite size make the undamped algorithm unstable.
  /// Where it oscillates nevertheless, damping grows; 0 means that there is never any.
  double damping = 0.5;
  /// Whether scores get variances in proportion to |x_a|^2 |x_b|^2, which keeps the algorithm
  /// closer to the Nishimori line.
  bool norm_aware = true;
  /// Whether state evolution leaves an error, so that the variance has a value to settle at; above
  /// perfect recovery it falls all the way, and damping grows with more patience.
  bool settles = true;
  /// Whether iterations with a variance of at least min_single_variance make their products and
  /// eigenvectors in single precision. Rounding then moves scores by some 1e-6, a ten-thousandth of
  /// their uncertainty or less, and mse by less than 1e-4 of itself [aim 28].
  bool single = true;
  /// A variance below this is a sign of divergence; with 0, none is.
  double min_variance = 0.0;
  void validate() const;
};

inline constexpr double min_single_variance = 1e-3;

/// One iteration, for people to look at. mse and overlap need the truth and are NaN without it.
struct AmpStep {
  double mse = 0.0;             ///< ||S_hat - S||_F^2 / d: also the test error of a score
  double variance = 0.0;        ///< the algorithm's own estimate of it; equal on the Nishimori line
  double overlap = 0.0;         ///< Tr(S S_hat) / d
  double self_overlap = 0.0;    ///< ||S_hat||_F^2 / d; equal to the overlap on the Nishimori line
  double conjugate = 0.0;       ///< q_hat = 1/delta
  double step = 0.0;            ///< ||S_hat' - S_hat||_F^2 / d
  double min_eigenvalue = 0.0;  ///< the least eigenvalue of the matrix that is denoised
  double max_eigenvalue = 0.0;
};

struct AmpRun {
  std::vector<double> estimate;  ///< S_hat, d x d
  std::vector<AmpStep> steps;
  Status status;
};

/// Approximate message passing for the attention-indexed model [aim 28]. An iteration makes two
/// products of n T x d by d x d (or its transpose) and one eigendecomposition; the memory is n T d
/// numbers besides the data. `truth` (d x d) may be empty. A run has diverged when the variance
/// stops being finite or collapses far below its expected value, or when the estimate is longer
/// than any truth; a damped run that does so is tried once more, with stronger damping, or with
/// none where the variance has nothing to settle at.
[[nodiscard]] AmpRun approximate_message_passing(const AttentionIndexed& model, const Dataset& data,
                                                 const std::vector<double>& truth,
                                                 const AmpOptions& options, const Context& context);

}  // namespace onset::aim
