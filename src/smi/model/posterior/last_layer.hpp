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
  double variance = 1.0;          ///< V_L
};

/// One of the ways in which the last layer's fields can have made the label, at every node: its log
/// likelihood and the moments of zeta_L, rows of nodes.
struct LastBranch {
  std::vector<double> log_likelihood;
  std::vector<double> mean;    ///< one row per field
  std::vector<double> second;  ///< lower triangle
};

/// The last layer given the inner ones: its fields follow from the label by linear algebra, up to
/// the symmetry of the label, so that they are never sampled.
class LastLayer {
 public:
  virtual ~LastLayer() = default;
  /// Fills the branches for the nodes last pushed; log likelihoods lack the factor
  /// (2 pi)^{-constraints/2}.
  virtual void evaluate(AttentionNodes& nodes, std::size_t count, const LastQuestion& question,
                        std::vector<LastBranch>& branches) const = 0;
  /// Whether the fields of a branch are fixed at every node, so that means are the fields.
  [[nodiscard]] virtual bool fixed() const { return false; }
  /// Residuals whose half squared norm is the energy of the label, linear in the inner fields to
  /// first order, of the branch with the given sign; one column per node. Node 0 is the centre.
  [[nodiscard]] virtual Eigen::MatrixXd residuals(AttentionNodes& nodes, std::size_t count,
                                                  const LastQuestion& question,
                                                  double sign) const = 0;
};

/// Makes the last layer that fits the model; throws Refused where there is none.
[[nodiscard]] std::unique_ptr<LastLayer> last_layer(const DeepAttention& model);

}  // namespace onset::smi
