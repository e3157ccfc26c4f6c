#pragma once

#include "smi/model/posterior/last_layer.hpp"

namespace onset::smi {

/// The last layer at rank two with two tokens and no noise. The scores fix the two tokens' vectors
/// u_1, u_2 in the plane of the layer's directions up to a turn, and up to a common shift across
/// their difference: both are integrated, the shift in closed form and the angle by the trapezoid
/// rule [smi 36].
class RankTwoPair final : public LastLayer {
 public:
  void evaluate(AttentionNodes& nodes, std::size_t count, const LastQuestion& question,
                std::vector<LastBranch>& branches) const override;
  [[nodiscard]] Eigen::MatrixXd residuals(AttentionNodes& nodes, std::size_t count,
                                          const LastQuestion& question, double sign) const override;
};

}  // namespace onset::smi
