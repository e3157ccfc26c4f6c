#pragma once

#include <array>
#include <cstddef>

#include "smi/model/posterior/last_layer.hpp"

namespace onset::smi {

/// Moments of a rotation Q of three dimensions with density exp(s1 Q11 + s2 Q22 + s3 Q33) over all
/// rotations [smi 96]: every other moment up to the second order is 0.
struct RotationMoments {
  double log_constant = 0.0;                         ///< log of the mean of the density
  std::array<double, 3> diagonal{};                  ///< <Q_ii>
  std::array<std::array<double, 3>, 3> square{};     ///< <Q_ij^2>
  std::array<std::array<double, 3>, 3> diagonals{};  ///< <Q_ii Q_jj>
  std::array<std::array<double, 3>, 3> mirrored{};   ///< <Q_ij Q_ji>
};

/// For s1 >= s2 >= |s3|.
[[nodiscard]] RotationMoments rotation_moments(double s1, double s2, double s3);

/// The last layer at rank three with more than three tokens and no noise: z_L = O G^{-1} u with O
/// in O(3). Each of its two halves is a matrix Fisher distribution, whose moments are integrals
/// over one number.
class RankThreeRotation final : public LastLayer {
 public:
  explicit RankThreeRotation(int tokens) : tokens_(static_cast<std::size_t>(tokens)) {}
  void evaluate(AttentionNodes& nodes, std::size_t count, const LastQuestion& question,
                std::vector<LastBranch>& branches) const override;
  [[nodiscard]] bool takes_matrix() const override { return false; }
  [[nodiscard]] Eigen::MatrixXd residuals(AttentionNodes& nodes, std::size_t count,
                                          const LastQuestion& question, double sign) const override;

 private:
  /// G^{-1} u: a row of nodes per field.
  [[nodiscard]] std::vector<double> solved(AttentionNodes& nodes, std::size_t count,
                                           const LastQuestion& question) const;
  std::size_t tokens_;
};

}  // namespace onset::smi
