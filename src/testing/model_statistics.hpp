#pragma once

#include <string>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/testing/check_model.hpp"

namespace onset::testing {

/// A number whose expectation is 0 when the model is consistent.
struct Deviation {
  std::string what;  // a sentence about what it would mean
  Estimate value;
};

/// Expectations at one setting of the variances.
struct ModelStatistics {
  std::vector<Deviation> deviations;
  std::vector<Estimate> gain;    // of every block, per direction
  std::vector<Estimate> growth;  // as in BlockReport, at this setting
};

[[nodiscard]] ModelStatistics model_statistics(const smi::SequenceModel& model,
                                               const smi::Posterior& posterior,
                                               std::span<const double> variance,
                                               const ModelCheckOptions& options,
                                               const Context& context);

}  // namespace onset::testing
