#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/smi/model/sequence_model.hpp"

namespace onset::smi {

struct EvolutionOptions {
  int iterations = 50;
  std::vector<double> start = {};  ///< overlaps in (0, 1) at iteration 0, one per block
  /// Overlaps do not fall below this: in dimension D chance alone leaves 1/D [smi 88].
  double chance = 1e-3;
  double tolerance = 2e-2;          ///< target standard error of every overlap at every iteration
  std::size_t max_points = 8192;    ///< outer points per replicate, at most; a power of two
  int nodes = 128;                  ///< inner nodes per half of the posterior
  std::size_t error_points = 2048;  ///< points of the prediction errors
  std::uint64_t seed = 1;
  void validate(std::size_t blocks) const;
};

/// State evolution after one iteration.
struct EvolutionPoint {
  int iteration = 0;              ///< 0 is the start
  std::vector<Estimate> overlap;  ///< Q_b, one per block
  std::vector<Estimate> cosine;   ///< sqrt(Q_b): that of message passing's weights with the teacher
  Estimate error_plugin;
  Estimate error_bayes;
};

struct EvolvedOverlaps {
  std::vector<EvolutionPoint> points;
  bool met_tolerance = true;
};

/// State evolution in time at the sample ratio alpha = N/D: what message passing knows after every
/// iteration, in the limit of large dimension [smi 88]. Each replicate is followed on its own from
/// the start to the end, so that the scatter of an overlap contains that of all iterations before;
/// bounds on the bias of the inner integrals are carried along by a second path that they push. An
/// iteration costs one evaluation of the Channel, two where the posterior is not exact.
[[nodiscard]] EvolvedOverlaps evolve(const SequenceModel& model, double alpha,
                                     const EvolutionOptions& options, const Context& context);

}  // namespace onset::smi
