#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

/// The directions on which a link depends, by its gradients and by the switches at which its value
/// jumps [links 4]: an orthonormal basis of their span. Throws Refused where there is none.
[[nodiscard]] Eigen::MatrixXd relevant_directions(const TypedLink& link);

/// Signed permutations of the directions that leave the link and the `known` directions as they
/// are make labels say nothing of the mean of the fields outside this span [links 4].
[[nodiscard]] Eigen::MatrixXd symmetric_directions(const TypedLink& link,
                                                   const Eigen::MatrixXd& known);

/// Directions that are recovered exactly from a sample ratio on, by counting equations [links 6].
struct ExactRecovery {
  Eigen::MatrixXd directions;
  Estimate alpha;
  /// Those of them that counting lets become exact at the same sample ratio without the others, as
  /// z1 alone and z2 alone of "z1, z2^2".
  std::vector<Eigen::MatrixXd> parts;
};

/// In the order of the sample ratio; directions that are never recovered are left out. `relevant`:
/// the span of the directions that matter.
[[nodiscard]] std::vector<ExactRecovery> exact_recovery(const TypedLink& link,
                                                        const Eigen::MatrixXd& relevant,
                                                        std::uint64_t seed, const Context& context);

/// Where some directions have run off to exact recovery, those are whose overlap is larger.
inline constexpr double exact_overlap = 0.995;

/// Of directions that some steps may make exact: all if they are, else the steps and parts of steps
/// that are; all if there is none of these.
[[nodiscard]] Eigen::MatrixXd exact_part(
    const std::vector<ExactRecovery>& steps, const Eigen::MatrixXd& directions,
    const std::function<bool(const Eigen::MatrixXd&)>& is_exact);

}  // namespace onset::smi
