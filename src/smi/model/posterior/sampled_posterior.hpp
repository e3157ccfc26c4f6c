#pragma once

#include <memory>

#include "onset/smi/model/posterior.hpp"
#include "smi/model/posterior/attention_nodes.hpp"
#include "smi/model/posterior/last_layer.hpp"
#include "smi/model/posterior/node_sets.hpp"

namespace onset::smi {

/// The posterior of deep attention with any number of tokens, ranks, token covariance and output
/// noise. The last layer's fields are integrated exactly (LastLayer); the inner ones by importance
/// sampling from two proposals with the balance heuristic [smi 33]:
///   the prior, which covers wide posteriors;
///   Gaussians from linearising the label at a centre, at two widths and at the centre's mirror
///   images in the layers that are hardly learned, which cover narrow ones.
/// The prior may have any covariance over the directions: nodes are drawn in coordinates that make
/// it N(0, I), and the last layer's prior is that given the node [smi 92].
/// A sample costs nodes x layers x tokens^3 operations per half.
class SampledPosterior final : public Posterior {
 public:
  SampledPosterior(const DeepAttention& model, const PosteriorOptions& options);
  void moments(const PosteriorQuery& query, PosteriorMoments& out) const override;
  [[nodiscard]] bool exact() const override { return inner_ == 0; }
  [[nodiscard]] bool within_blocks() const override { return last_->takes_matrix(); }
  [[nodiscard]] bool between_blocks() const override { return last_->takes_matrix(); }
  [[nodiscard]] bool any_covariance() const override { return last_->takes_matrix(); }

 private:
  struct Sample;
  struct Gaussians;
  struct Workspace;

  [[nodiscard]] Gaussians fit(const Sample& sample, Workspace& work) const;
  void place_nodes(const Sample& sample, const Gaussians& gaussians, Workspace& work) const;
  void place_uneven(const Sample& sample, Workspace& work) const;
  void log_densities(const Gaussians& gaussians, Workspace& work) const;
  [[nodiscard]] Sample prior_of(const PosteriorQuery& query) const;
  void move_along(const Sample& sample, std::size_t field, double step, std::size_t lane,
                  Workspace& work) const;
  void evaluate_last(const Sample& sample, Workspace& work) const;
  void store_cross(std::size_t i, double total, Workspace& work, PosteriorMoments& out,
                   PosteriorMoments::Half& half) const;
  void store(std::size_t i, Workspace& work, PosteriorMoments& out,
             PosteriorMoments::Half& half) const;

  DeepAttention model_;
  FieldShape shape_;
  std::size_t inner_;  // fields below the last layer
  std::size_t nodes_;  // per proposal
  std::unique_ptr<LastLayer> last_;
  NodeSets sets_;
};

}  // namespace onset::smi
