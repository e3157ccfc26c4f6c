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
  /// On the step ||S_hat' - S_hat||_F^2 / d, and on the drift of two steps as it would be without
  /// damping; in units of the variance. The variance itself is to be within a tenth of its square
  /// root.
  double tolerance = 1e-4;
  /// Share of the old estimate and omega that is kept, and half of the rest of the old variance.
  /// Rank-one token matrices at finite size make the undamped algorithm unstable. Where it
  /// oscillates all the same, damping grows. 0: none ever.
  double damping = 0.5;
  /// Scores get variances in proportion to |x_a|^2 |x_b|^2, which keeps the algorithm closer to the
  /// Nishimori line.
  bool norm_aware = true;
  /// Whether state evolution leaves an error, so that the variance has an end to settle at; above
  /// perfect recovery it falls all the way, and damping grows with more patience.
  bool settles = true;
  /// A variance below this is a sign of divergence; 0: none is.
  double min_variance = 0.0;
  void validate() const;
};

/// One iteration, for people to look at. The truth is needed for mse and overlap; NaN without it.
struct AmpStep {
  double mse = 0.0;             ///< ||S_hat - S||_F^2 / d: also the test error of a score
  double variance = 0.0;        ///< the algorithm's own idea of it; equal on the Nishimori line
  double overlap = 0.0;         ///< Tr(S S_hat) / d
  double self_overlap = 0.0;    ///< ||S_hat||_F^2 / d; equal to the overlap on the Nishimori line
  double conjugate = 0.0;       ///< q_hat = 1/delta
  double step = 0.0;            ///< ||S_hat' - S_hat||_F^2 / d
  double min_eigenvalue = 0.0;  ///< of the matrix that is denoised
  double max_eigenvalue = 0.0;
};

struct AmpRun {
  std::vector<double> estimate;  ///< S_hat, d x d
  std::vector<AmpStep> steps;
  Status status;
};

/// Approximate message passing for the attention-indexed model [aim 28]: two products of n T x d by
/// d x d (or its transpose) and one eigendecomposition in each iteration; memory 2 n T d doubles
/// beside the data. `truth` (d x d) may be empty. Ends as diverged when the variance stops being
/// finite, collapses far below its expected value, or the estimate is longer than any truth; a
/// damped run that does so is tried once more, with stronger damping, or none where it has nothing
/// to settle at.
[[nodiscard]] AmpRun approximate_message_passing(const AttentionIndexed& model, const Dataset& data,
                                                 const std::vector<double>& truth,
                                                 const AmpOptions& options, const Context& context);

}  // namespace onset::aim
