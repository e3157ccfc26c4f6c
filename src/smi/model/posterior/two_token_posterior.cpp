#include "smi/model/posterior/two_token_posterior.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "smi/model/posterior/two_token_workspace.hpp"

namespace onset::smi {

using two_token::Plane;

TwoTokenPosterior::TwoTokenPosterior(const DeepAttention& model, const PosteriorOptions& options)
    : model_(model), nodes_(static_cast<std::size_t>(options.nodes)) {
  total_gain_ = layer(model.layers - 1).gain;
  const std::vector<double> normals = two_token::node_normals(model.layers, options);
  normals_.resize(2 * normals.size());
  // Each node comes with its reflection.
  for (std::size_t i = 0; i < normals.size(); ++i) {
    normals_[2 * i] = normals[i];
    normals_[2 * i + 1] = -normals[i];
  }
}

two_token::Layer TwoTokenPosterior::layer(int index) const {
  double gain = 1.0;
  for (int l = 0; l < index; ++l) gain *= 1.0 + model_.skip_of(l);
  return {model_.beta, index + 1 < model_.layers ? model_.skip_of(index) : 0.0, gain};
}

void TwoTokenPosterior::draw_nodes(const two_token::NodeKey& key, Workspace& work) const {
  const auto drawn = static_cast<std::size_t>(model_.layers - 1);
  const double* source = normals_.data() + key.set * drawn * 2 * nodes_.prior;
  for (std::size_t l = 0; l < drawn; ++l, source += 2 * nodes_.prior) {
    const double angle = 2.0 * std::numbers::pi * key.turn(l);
    two_token::rotate(std::cos(angle), std::sin(angle), source, source + nodes_.prior,
                      work.prior[2 * l].data(), work.prior[2 * l + 1].data(), nodes_.prior);
  }
}

void TwoTokenPosterior::moments(const PosteriorQuery& query, PosteriorMoments& out) const {
  const auto layers = static_cast<std::size_t>(model_.layers);
  const std::size_t count = query.count;
  Workspace work(model_, nodes_.prior, nodes_.centre);
  const two_token::Questions questions(query);
  TwoTokenSample sample;
  std::vector<Plane> centre;
  work.coupling = query.coupling;
  const std::size_t pairs = out.half[0].cross.empty() ? 0 : model_.shape().direction_pairs();

  for (std::size_t i = 0; i < count; ++i) {
    questions.read(i, sample, centre);
    work.laplace.build(sample, centre);
    for (std::uint64_t e = 0; e < 2; ++e) {
      draw_nodes(questions.key(i, e, nodes_), work);
      work.use(work.prior, nodes_.prior);
      push_through(sample, work);
      LayerSums sums(layers, pairs);
      LayerSums inner_solved(layers, pairs);
      LayerSums near_centre(layers, pairs);
      propose_inner_fields(sample, work, sums);
      propose_last_field(sample, work, inner_solved);
      sums.merge(inner_solved);
      if (is_usable(work.laplace.component())) {
        propose_near_centre(sample, work, near_centre);
        sums.merge(near_centre);
      }

      PosteriorMoments::Half& half = out.half[e];
      two_token::store(sums.layer, sums.shift, nodes_, i, half);
      for (std::size_t k = 0; k < pairs; ++k) {
        half.cross[k * count + i] = sums.cross[k] / sums.weight();
      }
    }
  }
}

}  // namespace onset::smi
