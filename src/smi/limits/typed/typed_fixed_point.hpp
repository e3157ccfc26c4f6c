#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "onset/core/context.hpp"
#include "smi/limits/typed/typed_channel.hpp"

namespace onset::smi {

/// Which directions take part in state evolution: those that are learned, those that are known
/// exactly, and nothing is known of the rest. Orthonormal columns.
struct TypedRoles {
  Eigen::MatrixXd learned;
  Eigen::MatrixXd exact;
};

/// Orthonormal symmetric matrices over the learned directions that commute with the symmetries of
/// the link that keep the roles as they are: V and what makes it are sums of them.
[[nodiscard]] std::vector<Eigen::MatrixXd> commuting_basis(const TypedLink& link,
                                                           const TypedRoles& roles);

/// State evolution of a typed link in the log precision L = -log V of the learned directions, which
/// is a matrix [links 3]: L -> log(I + alpha E sum_m g_m g_m^T). Symmetries of the link keep L in
/// the space of matrices that commute with them; coordinates are those of this space.
class TypedStateEvolution {
 public:
  TypedStateEvolution(const TypedLink& link, TypedRoles roles, double alpha, std::uint64_t seed,
                      const Context& context);

  [[nodiscard]] std::size_t coordinates() const { return basis_.size(); }
  [[nodiscard]] const TypedRoles& roles() const { return roles_; }
  /// The coordinates of a multiple of the identity.
  [[nodiscard]] Eigen::VectorXd isotropic(double log_precision) const;
  /// V in the basis of the learned directions.
  [[nodiscard]] Eigen::MatrixXd variance(const Eigen::VectorXd& x) const;
  /// Q over all directions.
  [[nodiscard]] Eigen::MatrixXd overlap(const Eigen::VectorXd& x) const;

  /// Points per replicate that cost little.
  [[nodiscard]] std::size_t cheap_points() const;

  /// What one step of state evolution makes of x.
  struct Image {
    Eigen::VectorXd mean;
    std::vector<Eigen::VectorXd> replicates;
    std::vector<TypedAverages> averages;
  };
  [[nodiscard]] Image image(const Eigen::VectorXd& x, std::size_t points,
                            std::size_t replicates) const;

  /// What is known at x.
  [[nodiscard]] KnownDirections known_at(const Eigen::VectorXd& x) const;

 private:
  [[nodiscard]] Eigen::MatrixXd matrix(const Eigen::VectorXd& x) const;
  [[nodiscard]] Eigen::VectorXd in_coordinates(const Eigen::MatrixXd& symmetric) const;

  const TypedLink* link_;
  const Context* context_;
  TypedRoles roles_;
  double alpha_;
  std::uint64_t seed_;
  std::vector<Eigen::MatrixXd> basis_;  ///< orthonormal, of the matrices that L may be
};

/// A fixed point, with the solution of every replicate.
struct TypedFixedPoint {
  Eigen::VectorXd x;
  std::vector<Eigen::VectorXd> replicates;
  std::vector<TypedAverages> averages;
  int iterations = 0;
  double residual = 0.0;
  bool settled = false;  ///< the iteration came to rest
  /// Whether state evolution leads to it from both sides beyond its scatter, as far as that was
  /// looked at: next to a threshold a small overlap may not be told from none.
  bool clear = true;
  bool stable = false;    ///< state evolution contracts to it
  bool runs_off = false;  ///< V became so small that the iteration was ended
};

/// Iterates with few points until little changes. Ends as soon as the log precision of some
/// direction exceeds `most`.
[[nodiscard]] TypedFixedPoint iterate(const TypedStateEvolution& map, Eigen::VectorXd x,
                                      double most);

/// Newton steps with many points from a point nearby, and one more for each replicate from its own
/// residual.
[[nodiscard]] TypedFixedPoint polish(const TypedStateEvolution& map, const TypedFixedPoint& nearby,
                                     std::size_t points);

}  // namespace onset::smi
