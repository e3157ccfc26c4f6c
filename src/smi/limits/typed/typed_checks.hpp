#pragma once

#include <string>
#include <vector>

#include "onset/core/estimate.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/limits/typed/typed_channel.hpp"

namespace onset::smi {

/// How much ratios of sums may bias what follows from the averages, relative to it.
[[nodiscard]] double ratio_bias(const std::vector<TypedAverages>& averages);

/// About what labels that were not met may add to the weight of a degree, with one normal: their
/// mass and what they lack of E(z^2 - 1) = 0 tell how far out they are. 0 where that is not far:
/// estimate() speaks of those.
[[nodiscard]] double missed_weight(double mass, double excess, int degree);

/// What all replicates have in common: labels that were missed, which their masses tell, the bias
/// of ratios, relative to what follows from them, and the error of the rule over labels.
struct SharedErrors {
  numerics::Replicates masses;
  double ratio_bias = 0.0;
  double rule = 0.0;
};

/// Mean and error, with what all replicates have in common.
[[nodiscard]] Estimate estimate(const numerics::Replicates& values, const SharedErrors& shared);
[[nodiscard]] Estimate estimate(const numerics::Replicates& values,
                                const std::vector<TypedAverages>& averages, double rule_error);

/// The mean over replicates of some matrix of the averages.
template <class Part>
[[nodiscard]] Eigen::MatrixXd mean_of(const std::vector<TypedAverages>& averages,
                                      const Part& part) {
  Eigen::MatrixXd sum = part(averages.front());
  for (std::size_t r = 1; r < averages.size(); ++r) sum += part(averages[r]);
  return sum / static_cast<double>(averages.size());
}

/// Why the averages are not to be trusted: E<xi xi^T> is not I, or labels are missing. Empty where
/// both are right.
[[nodiscard]] std::string doubt_in(const std::vector<TypedAverages>& averages);

}  // namespace onset::smi
