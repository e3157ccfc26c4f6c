#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

#include "smi/model/posterior/last_layer.hpp"

/// A last layer of rank two whose prior is a matrix over its directions [smi 93, 94]: what message
/// passing needs, where directions are learned unevenly on the way. The orbit of fields that make a
/// label is integrated over its angle by the trapezoid rule.
namespace onset::smi {

/// Three tokens and more: z_L = O x with O in O(2), a branch for each half of it. `x` has a row of
/// nodes per field. Likelihoods lack the Jacobian of x.
void uneven_rotations(std::span<const double> x, std::size_t count, const LastQuestion& question,
                      std::vector<LastBranch>& branches);

/// The residuals at the likeliest rotation of node 0, without the direction in which it moves them.
[[nodiscard]] Eigen::MatrixXd uneven_rotation_residuals(std::span<const double> x,
                                                        std::size_t count,
                                                        const LastQuestion& question);

/// What two tokens' fields are made of, z_L = R_theta (a; r b): rows of nodes, one per token.
struct PairRows {
  std::span<const double> a;
  std::span<const double> b;
};

/// Two tokens: one branch. Throws Refused where one direction is known so much better than the
/// other that the angle would take too many points.
void uneven_pair(PairRows rows, std::size_t count, const LastQuestion& question,
                 LastBranch& branch);

/// The residuals at the likeliest angle and shift of node 0, without the directions in which these
/// move them.
[[nodiscard]] Eigen::MatrixXd uneven_pair_residuals(PairRows rows, std::size_t count,
                                                    const LastQuestion& question);

}  // namespace onset::smi
