#pragma once

#include <cstdint>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/status.hpp"
#include "onset/smi/model/sequence_model.hpp"
#include "smi/learners/overlaps.hpp"
#include "smi/model/dataset.hpp"

namespace onset::smi {

/// Options of message_passing().
struct MessagePassingOptions {
  int max_iterations = 200;
  /// The standard deviation of the initial weights, which break the symmetry. Blocks that die out
  /// are kept at this size.
  double start = 1e-3;
  /// Share of the old V in the V of the posteriors [smi 84]; at least 1/2 after a failed attempt,
  /// and more after further ones.
  double damping = 0.0;
  /// Weights and V have settled when an iteration changes them by less than this, relatively.
  double tolerance = 1e-4;
  int nodes = 256;   ///< nodes of the posterior, per half
  int restarts = 3;  ///< other starts that are tried after a divergence or a false recovery
  /// The number of fresh samples (drawn as fields) behind the test errors of every iteration, and
  /// of the last one.
  std::size_t error_points = 1024;
  std::size_t last_error_points = 16384;
  std::uint64_t seed = 1;
  void validate() const;
};

/// What is known after an iteration. Quantities that need the teacher are 0 when it is not known.
struct MessagePassingStep {
  int iteration = 0;
  std::vector<Alignment> block;  ///< norm, overlap and cosine of every block
  std::vector<double> variance;  ///< mean eigenvalue of V_b; 1 - V_b is the expected overlap
  double plugin_error = 0.0;     ///< test errors
  double bayes_error = 0.0;
  /// sqrt E|<z> - omega|^2: how far the fields are from explaining the labels.
  double residual = 0.0;
  /// The noise that the inner integrals add to the messages, relative to them: E|dg|^2 / E|g|^2.
  double integration_noise = 0.0;
  std::size_t lost = 0;         ///< samples whose posterior underflowed and which were left out
  double matrix_seconds = 0.0;  ///< products with the inputs, summed over threads
  double posterior_seconds = 0.0;
};

struct MessagePassing {
  std::vector<MessagePassingStep> steps;  ///< the steps of the last attempt
  std::vector<double> weights;            ///< What, one row per direction
  /// Blocks whose weights have left the size of the start, to which a block that dies out is held.
  std::vector<bool> escaped;
  /// `recovered` and `false_recovery` are where V -> 0; `diverged` is also said where V is not
  /// positive or too uneven, or where norm and V differ for long.
  StopReason end = StopReason::unfinished;
  int attempts = 1;

  [[nodiscard]] bool failed() const {
    return end == StopReason::diverged || end == StopReason::false_recovery;
  }
};

/// Where an iteration begins for some directions, instead of at small random weights.
struct MessageStart {
  std::vector<std::size_t> directions;
  std::vector<double> weights;   ///< one row for each of them
  std::vector<double> variance;  ///< V of the first posteriors: a matrix over them, row by row
  /// g of the iteration before, (place * tokens + token) * samples + sample, `place` being that in
  /// `directions`.
  std::vector<double> messages;
};

/// Generalised approximate message passing [smi 43-46]: the Bayes-optimal iteration whose overlaps
/// follow state evolution, undamped unless asked; derivatives are posterior moments. V is one
/// matrix over all directions where the posterior is between_blocks(), else a matrix in every block
/// [smi 48, 86]. An iteration costs samples x tokens x dimension x directions operations, and one
/// posterior per sample (a few if it has a closed form). `run` tells runs on the same seed apart.
/// A given `start` is that of the first attempt, whose steps then begin with step 0, the start
/// itself; attempts after a failure start at random.
[[nodiscard]] MessagePassing message_passing(const SequenceModel& model, const Dataset& data,
                                             const MessagePassingOptions& options,
                                             std::uint64_t run, const Context& context,
                                             const MessageStart* start = nullptr);

}  // namespace onset::smi
