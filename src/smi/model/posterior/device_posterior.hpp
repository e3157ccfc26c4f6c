#pragma once

#include <memory>
#include <vector>

#include "onset/smi/model/posterior.hpp"

namespace onset::smi {

/// Whether device_posterior() takes a model: plain attention of two tokens, of two layers or more
/// but not of more than a plug-in has.
[[nodiscard]] bool has_device_posterior(const DeepAttention& model);

/// The two-token posterior with its sums over nodes computed by the device of this machine: the
/// same nodes and weights as TwoTokenPosterior, added in another order. It has no moments between
/// blocks. Throws Refused where there is no device, and IoError where it fails.
[[nodiscard]] std::unique_ptr<Posterior> device_posterior(const DeepAttention& model,
                                                          const PosteriorOptions& options);

}  // namespace onset::smi
