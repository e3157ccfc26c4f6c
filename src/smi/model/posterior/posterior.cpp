#include "onset/smi/model/posterior.hpp"

#include <string>

#include "onset/core/error.hpp"
#include "smi/model/posterior/one_layer_posterior.hpp"
#include "smi/model/posterior/sampled_posterior.hpp"
#include "smi/model/posterior/two_token_posterior.hpp"

namespace onset::smi {

PosteriorMoments::PosteriorMoments(const FieldShape& of, std::size_t samples, bool between_blocks)
    : shape(of), count(samples) {
  for (Half& h : half) {
    h.log_z.resize(samples);
    h.mean.resize(shape.fields() * samples);
    h.second.resize(shape.all_pairs() * samples);
    h.mean_bias.resize(h.mean.size());
    h.second_bias.resize(h.second.size());
    if (between_blocks) h.cross.resize(shape.direction_pairs() * samples);
  }
}

void PosteriorOptions::validate() const {
  if (nodes < 32 || nodes > (1 << 20) || (nodes & (nodes - 1)) != 0) {
    throw InvalidArgument("nodes", std::to_string(nodes) +
                                       " is not allowed; allowed: a power of two from 32 to 2^20");
  }
}

std::unique_ptr<Posterior> attention_posterior(const DeepAttention& model,
                                               const PosteriorOptions& options) {
  model.validate();
  options.validate();
  if (model.plain() && model.layers == 1) return std::make_unique<OneLayerPosterior>(model.tokens);
  if (model.plain() && model.tokens == 2)
    return std::make_unique<TwoTokenPosterior>(model, options);
  return std::make_unique<SampledPosterior>(model, options);
}

}  // namespace onset::smi
