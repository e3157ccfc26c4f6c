#pragma once

#include <vector>

#include "onset/ssi/learners/sgd.hpp"
#include "onset/ssi/limits/flow.hpp"

namespace onset::ssi {

/// The diffusion that the overlaps follow at large d, with the nonlinear drift and noise of the
/// field: dX = drift dt + sqrt(eta/d) Sigma^{1/2} dB, in time t = eta n/d. [ssi 19] It takes steps
/// of `dt` (Heun in the drift); the cost does not depend on d.
struct DiffusionOptions {
  double dt = 0.02;
  /// Times at which the runs are averaged; increasing.
  std::vector<double> times;
};

struct DiffusionResult {
  std::vector<SgdRun> runs;   ///< first passages in steps n = t d/eta
  std::vector<FlowRow> rows;  ///< means of |e| and |m| over the runs at every given time
};

[[nodiscard]] DiffusionResult run_diffusion(const FlowField& field, const SgdOptions& options,
                                            const DiffusionOptions& diffusion,
                                            const Context& context);

/// Roughly the core-seconds that it takes with the usual dt, for estimates only.
[[nodiscard]] double diffusion_seconds(const SequenceModel& model, const SgdOptions& options);

}  // namespace onset::ssi
