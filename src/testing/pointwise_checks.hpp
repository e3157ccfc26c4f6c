#pragma once

#include <string>
#include <vector>

#include "onset/smi/model/posterior.hpp"
#include "testing/model_samples.hpp"

namespace onset::testing {

/// Sentences about values that are not finite and covariances that are not positive semidefinite;
/// `where` says which samples these are.
[[nodiscard]] std::vector<std::string> check_values(const smi::PosteriorMoments& moments,
                                                    const std::string& where);

/// Sentences about means that are not derivatives of log Z, and covariances that are not those of
/// means. It is for exact posteriors.
[[nodiscard]] std::vector<std::string> check_derivatives(const smi::Posterior& posterior,
                                                         const smi::FieldShape& shape,
                                                         const ModelSamples& samples);

/// Whether the posterior stays the same when a block of the fields that made the label changes
/// sign.
[[nodiscard]] bool sign_symmetric(const smi::SequenceModel& model, const smi::Posterior& posterior,
                                  const ModelSamples& samples, std::size_t block);

}  // namespace onset::testing
