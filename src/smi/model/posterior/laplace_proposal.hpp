#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "onset/smi/model/deep_attention.hpp"
#include "smi/model/posterior/two_token_kernels.hpp"

namespace onset::smi {

/// One sample's question to the two-token posterior, tokens rotated [smi 8].
struct TwoTokenSample {
  two_token::Plane h{};
  std::vector<two_token::Plane> omega;
  std::vector<double> deviation;  ///< sqrt V_l

  [[nodiscard]] two_token::Prior prior(std::size_t layer) const {
    return {omega[layer], deviation[layer]};
  }
};

/// A Gaussian in the scaled fields zeta_1 .. zeta_{L-1} (coordinates 2 l + plus/minus) that is the
/// posterior of the network linearised at a point: exp(-|factor (zeta - mean)|^2 / 2) with an upper
/// triangular factor of positive diagonal, factor^T factor = I + K^T K [smi 28].
struct LaplaceComponent {
  std::vector<double> mean;
  std::vector<double> factor;    ///< row by row, square
  double log_determinant = 0.0;  ///< the logarithm of the factor's determinant
  std::vector<double> slope;     ///< K: d zeta_L / d zeta_<, the plus row, then the minus row
  two_token::Plane offset{};     ///< zeta_L at zeta_< = 0, linearised
  double exponent = 0.0;  ///< the least |zeta|^2 / 2 of all layers on the linearised constraint
};

/// The largest logarithm of the linearised posterior over the prior.
[[nodiscard]] inline double log_top(const LaplaceComponent& c) {
  return c.log_determinant + c.exponent;
}

/// Where the linearised label is so far off the prior that their difference is lost in rounding,
/// there is no proposal C.
[[nodiscard]] inline bool is_usable(const LaplaceComponent& c) {
  return log_top(c) < 1e6;
}

/// Proposal C for one sample: the network linearised at a centre. Reused from sample to sample.
class LaplaceProposal {
 public:
  explicit LaplaceProposal(const DeepAttention& model);

  /// `centre` has one plane per layer, near the constraint; if it is empty, a centre is found from
  /// omega.
  void build(const TwoTokenSample& sample, std::span<const two_token::Plane> centre);

  [[nodiscard]] const LaplaceComponent& component() const { return component_; }
  /// The inner fields at the centre.
  [[nodiscard]] std::span<const two_token::Plane> centre() const { return centre_; }

 private:
  /// z_L = sign B^{-1} h and its slopes with respect to the scaled lower fields.
  void linearise(const TwoTokenSample& sample, std::span<const double> zeta);
  void nearer_sign(const TwoTokenSample& sample, two_token::Plane to);
  [[nodiscard]] double objective(const TwoTokenSample& sample, std::span<const double> zeta);
  /// The linearised posterior around zeta (lower layers).
  void fit(const TwoTokenSample& sample, std::span<const double> zeta, LaplaceComponent& out);
  void find_centre(const TwoTokenSample& sample);

  DeepAttention model_;
  std::size_t size_;  ///< 2 (L - 1)
  double sign_ = 1.0;
  two_token::Plane last_{};            ///< z_L at the point of linearise()
  std::vector<double> slope_;          ///< d zeta_L / d zeta_< there, as in the components
  std::vector<double> mix_, stretch_;  ///< tangents of B's mix and stretch
  std::vector<double> zeta_, trial_, row_;
  std::vector<two_token::Plane> centre_;
  LaplaceComponent component_;
};

}  // namespace onset::smi
