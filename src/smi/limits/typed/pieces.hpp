#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "onset/core/estimate.hpp"
#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

/// The directions on which a link depends, by its gradients and by the switches at which its value
/// jumps [links 4]: an orthonormal basis of their span.
[[nodiscard]] Eigen::MatrixXd relevant_directions(const TypedLink& link);

/// Signed permutations of the directions that leave the link and the `known` directions as they
/// are make labels say nothing of the mean of the fields outside this span [links 4].
[[nodiscard]] Eigen::MatrixXd symmetric_directions(const TypedLink& link,
                                                   const Eigen::MatrixXd& known);

/// Directions that are recovered exactly from a sample ratio on, by counting equations [links 6].
struct ExactRecovery {
  Eigen::MatrixXd directions;
  Estimate alpha;
};

/// In the order of the sample ratio; directions that are never recovered are left out. `relevant`:
/// the span of the directions that matter.
[[nodiscard]] std::vector<ExactRecovery> exact_recovery(const TypedLink& link,
                                                        const Eigen::MatrixXd& relevant,
                                                        std::uint64_t seed);

}  // namespace onset::smi
