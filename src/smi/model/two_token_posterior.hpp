#pragma once

#include <vector>

#include "onset/smi/model/posterior.hpp"
#include "smi/model/two_token_kernels.hpp"

namespace onset::smi {

/// Two tokens, two or more layers: the last field follows from the others and the label, and the
/// others are integrated with two proposals and the balance heuristic [smi 10-12]:
///   A draws z_1 .. z_{L-1} from their priors and solves for z_L = +- B^{-1} h;
///   B draws z_1 .. z_{L-2} and z_L and solves for z_{L-1}.
/// A covers flat stretches of the attention map, B the sharp ones that a small V_L makes.
class TwoTokenPosterior final : public Posterior {
 public:
  TwoTokenPosterior(const DeepAttention& model, const PosteriorOptions& options);
  void moments(const PosteriorQuery& query, PosteriorMoments& out) const override;
  [[nodiscard]] bool exact() const override { return false; }

 private:
  struct Sample;
  struct LayerSums;
  struct Workspace;

  void draw_nodes(std::size_t set, std::uint64_t sample_key, Workspace& work) const;
  void push_through(const Sample& sample, Workspace& work) const;
  void propose_inner_fields(const Sample& sample, Workspace& work, LayerSums& sums) const;
  void propose_last_field(const Sample& sample, Workspace& work, LayerSums& sums) const;
  void weigh(const Sample& sample, bool last_is_solved, Workspace& work, LayerSums& sums) const;
  [[nodiscard]] two_token::Layer layer(int index) const;

  DeepAttention model_;
  std::size_t nodes_;
  double total_gain_;  ///< product of (1 + skip) over the layers below the last
  /// Standard normals: ((set * (layers - 1) + layer) * 2 + coordinate) * nodes + node.
  std::vector<double> normals_;
};

}  // namespace onset::smi
