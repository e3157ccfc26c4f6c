#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/smi/model/sequence_model.hpp"
#include "smi/learners/overlaps.hpp"
#include "smi/model/dataset.hpp"

namespace onset::smi {

/// Options of message_passing().
struct MessagePassingOptions {
  int max_iterations = 200;
  /// Standard deviation of the weights at the start: breaks the symmetry. Blocks that die out are
  /// kept at this size.
  double start = 1e-3;
  /// Share of the old V in the V of the posteriors [smi 84]; at least 1/2 after a failed attempt.
  double damping = 0.0;
  /// Weights and V have settled when an iteration changes them by less than this, relatively.
  double tolerance = 1e-4;
  int nodes = 256;   ///< of the posterior, per half
  int restarts = 3;  ///< other starts that are tried after a divergence or a false recovery
  /// Fresh samples (as fields) behind the test errors of every iteration, and of the last one.
  std::size_t error_points = 1024;
  std::size_t last_error_points = 16384;
  std::uint64_t seed = 1;
  void validate() const;
};

/// What is known after an iteration. Quantities of the teacher are 0 when it is not known.
struct MessagePassingStep {
  int iteration = 0;
  std::vector<Alignment> block;  ///< norm, overlap and cosine of every block
  std::vector<double> variance;  ///< mean eigenvalue of V_b; 1 - V_b is the expected overlap
  double plugin_error = 0.0;     ///< test errors
  double bayes_error = 0.0;
  /// sqrt E|<z> - omega|^2: how far the fields are from explaining the labels.
  double residual = 0.0;
  /// Noise that the inner integrals add to the messages, relative to them: E|dg|^2 / E|g|^2.
  double integration_noise = 0.0;
  std::size_t lost = 0;         ///< samples whose posterior underflowed and which were left out
  double matrix_seconds = 0.0;  ///< products with the inputs, summed over threads
  double posterior_seconds = 0.0;
};

enum class MessagePassingEnd {
  converged,       ///< a fixed point
  stationary,      ///< fluctuates around a state, as it does in finite dimension
  recovered,       ///< V -> 0 and the labels are explained exactly
  unfinished,      ///< max_iterations were not enough
  diverged,        ///< not finite, V not positive or too uneven, or norm and V differ for long
  false_recovery,  ///< V -> 0, but the labels are not explained
};

[[nodiscard]] std::string_view to_string(MessagePassingEnd end);

struct MessagePassing {
  std::vector<MessagePassingStep> steps;  ///< of the last attempt
  std::vector<double> weights;            ///< What, one row per direction
  /// Blocks whose weights have left the size of the start, to which a block that dies out is held.
  std::vector<bool> escaped;
  MessagePassingEnd end = MessagePassingEnd::unfinished;
  int attempts = 1;

  [[nodiscard]] bool failed() const {
    return end == MessagePassingEnd::diverged || end == MessagePassingEnd::false_recovery;
  }
};

/// Generalised approximate message passing [smi 43-46]: the Bayes-optimal iteration whose overlaps
/// follow state evolution, undamped unless asked; derivatives are posterior moments. V is one
/// matrix over all directions where the posterior is between_blocks(), else a matrix in every block
/// [smi 48, 86]. Costs samples x tokens x dimension x directions and a posterior (a few in closed
/// form) per sample and iteration. `run` tells runs on the same seed apart.
[[nodiscard]] MessagePassing message_passing(const SequenceModel& model, const Dataset& data,
                                             const MessagePassingOptions& options,
                                             std::uint64_t run, const Context& context);

}  // namespace onset::smi
