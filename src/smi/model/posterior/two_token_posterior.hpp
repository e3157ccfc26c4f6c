#pragma once

#include <vector>

#include "onset/smi/model/posterior.hpp"
#include "smi/model/posterior/laplace_proposal.hpp"
#include "smi/model/posterior/two_token_batch.hpp"
#include "smi/model/posterior/two_token_kernels.hpp"

namespace onset::smi {

/// The posterior of two tokens and two or more layers. The last field follows from the others and
/// the label, and the others are integrated with three proposals and the balance heuristic [smi
/// 10-12, 28, 29]:
///   A draws z_1 .. z_{L-1} from their priors and solves for z_L = +- B^{-1} h;
///   B draws z_1 .. z_{L-2} and z_L and solves for z_{L-1};
///   C draws z_1 .. z_{L-1} from the posterior of the network linearised at a centre.
/// A covers flat stretches of the attention map, B the sharp ones that a small V_L makes, C what is
/// nearly known in several layers at once. Labels do not see the sign of any field: all signs of a
/// node are summed exactly [smi 87].
class TwoTokenPosterior final : public Posterior {
 public:
  TwoTokenPosterior(const DeepAttention& model, const PosteriorOptions& options);
  void moments(const PosteriorQuery& query, PosteriorMoments& out) const override;
  [[nodiscard]] bool exact() const override { return false; }
  [[nodiscard]] bool between_blocks() const override { return true; }

 private:
  struct LayerSums;
  struct Workspace;

  void draw_nodes(const two_token::NodeKey& key, Workspace& work) const;
  void push_through(const TwoTokenSample& sample, Workspace& work) const;
  void solve_last(const TwoTokenSample& sample, Workspace& work) const;
  void fold(const TwoTokenSample& sample, std::size_t layer, two_token::Field zeta,
            double* unchanged, Workspace& work) const;
  void propose_inner_fields(const TwoTokenSample& sample, Workspace& work, LayerSums& sums) const;
  void propose_last_field(const TwoTokenSample& sample, Workspace& work, LayerSums& sums) const;
  void propose_near_centre(const TwoTokenSample& sample, Workspace& work, LayerSums& sums) const;
  double gaussian_ratio(bool rescale, double shift, Workspace& work) const;
  void collect(const TwoTokenSample& sample, double one, double inner_scale, Workspace& work,
               LayerSums& sums) const;
  void sum_over_signs(const TwoTokenSample& sample, Workspace& work, LayerSums& sums) const;
  void tilt(Workspace& work, LayerSums& sums) const;
  void sum_products(const std::vector<double>& weight, const Workspace& work,
                    LayerSums& sums) const;
  [[nodiscard]] two_token::Layer layer(int index) const;

  DeepAttention model_;
  two_token::NodeCounts nodes_;
  double total_gain_;  ///< product of (1 + skip) over the layers below the last
  /// Standard normals: ((set * (layers - 1) + layer) * 2 + coordinate) * nodes + node.
  std::vector<double> normals_;
};

}  // namespace onset::smi
