#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/ssi/learners/rate_policy.hpp"
#include "onset/ssi/learners/sgd.hpp"

namespace onset::ssi {

struct GainOptions {
  SgdOptions sgd;  ///< its rate is the untied student's; its steps are the most, 0 means 50 times
                   ///< the ODE's
  RatePolicy policy = RatePolicy::equal;
};

/// How many more steps the untied student needs to bring its overlap to the level. [ssi 35-37]
struct MeasuredGain {
  double rate_tied = 0.0;
  double rate_untied = 0.0;
  std::optional<Estimate> steps_tied;  ///< mean first passages of the chain; empty if too few
  std::optional<Estimate> steps_untied;
  std::optional<Estimate> gain;      ///< their ratio
  std::optional<Estimate> gain_ode;  ///< the same for the flow from m = 1/sqrt(d)
  bool complete = false;             ///< whether all runs reached the level
};

/// `tied` has a tied student; its untied twin is made from it.
[[nodiscard]] MeasuredGain untied_over_tied(const SequenceModel& tied, const GainOptions& options,
                                            const Context& context);

}  // namespace onset::ssi
