#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "onset/smi/model/posterior.hpp"
#include "smi/learners/prior_covariance.hpp"

namespace onset::smi {

/// Posterior moments of z - omega, both inner estimates pooled; arrays run over samples fastest.
struct FieldMoments {
  std::vector<double> mean;    ///< <z - omega>: one row per field
  std::vector<double> second;  ///< <(z - omega)(z - omega)^T>: lower triangles, block after block
  /// Sums over tokens of <(z - omega)_p (z - omega)_q> for p and q in different blocks, one row per
  /// pair of directions. It is empty where the posterior has none.
  std::vector<double> cross;
  std::vector<double> gap;  ///< difference of the two inner estimates of the mean
};

/// The question that one batch of samples asks.
struct FieldQuery {
  std::size_t count = 0;
  std::span<const double> label;
  std::span<const double> omega;
  std::uint64_t first_sample = 0;
};

/// The moments under the prior N(omega, V (x) I), by sums over the nodes of the smoothed prior
/// [smi 47]. A sample whose evidence underflows has NaN moments.
[[nodiscard]] FieldMoments smoothed_moments(const Posterior& posterior, const FieldShape& shape,
                                            const SmoothedPrior& prior, const FieldQuery& query);

}  // namespace onset::smi
