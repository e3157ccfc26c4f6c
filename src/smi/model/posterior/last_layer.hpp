#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "smi/model/posterior/attention_nodes.hpp"

namespace onset::smi {

/// The question about the last layer of one sample.
struct LastQuestion {
  std::span<const double> label;  ///< u_L, direction after direction
  std::span<const double> omega;  ///< omega of the last layer, likewise
  double variance = 1.0;          ///< V_L, or what is left of it given the inner fields
  /// Where the prior is not V_L I for itself [smi 92]: the lower triangular root of V_L given the
  /// inner fields, rank x rank, and what these add to omega, one row of nodes per field. Moments
  /// are then those of zeta_L = root^{-1} (z_L - omega_L - shift).
  std::span<const double> root = {};
  std::span<const double> shift = {};
};

/// One of the ways in which the last layer's fields can have made the label, at every node: its log
/// likelihood and the moments of zeta_L, rows of nodes.
struct LastBranch {
  std::vector<double> log_likelihood;
  std::vector<double> mean;    ///< one row per field
  std::vector<double> second;  ///< lower triangle
};

/// Makes room for branches of `size` fields at `count` nodes.
void resize_branches(std::vector<LastBranch>& branches, std::size_t number, std::size_t size,
                     std::size_t count);

/// The last layer given the inner ones: its fields follow from the label by linear algebra, up to
/// the symmetry of the label, so that they are never sampled.
class LastLayer {
 public:
  virtual ~LastLayer() = default;
  /// Fills the branches for the nodes last pushed; log likelihoods lack the factor
  /// (2 pi)^{-constraints/2}.
  virtual void evaluate(AttentionNodes& nodes, std::size_t count, const LastQuestion& question,
                        std::vector<LastBranch>& branches) const = 0;
  /// Whether it answers for a prior that is a matrix over its directions (LastQuestion::root).
  [[nodiscard]] virtual bool takes_matrix() const { return true; }
  /// Residuals whose half squared norm is the energy of the label, linear in the inner fields to
  /// first order, of the branch with the given sign; one column per node. Node 0 is the centre.
  [[nodiscard]] virtual Eigen::MatrixXd residuals(AttentionNodes& nodes, std::size_t count,
                                                  const LastQuestion& question,
                                                  double sign) const = 0;
};

/// Makes the last layer that fits the model; throws Refused where there is none.
[[nodiscard]] std::unique_ptr<LastLayer> last_layer(const DeepAttention& model);

}  // namespace onset::smi
