#include "onset/aim/limits/channel.hpp"

namespace onset::aim {

Channel::Channel(const AttentionIndexed& model, std::uint64_t seed, const Context& context)
    : model_(model) {
  if (model.channel == ChannelKind::hardmax) {
    hardmax_ = hardmax_information(model.tokens, model.published, seed, context);
  }
}

Estimate Channel::information(double q, double v) const {
  if (hardmax_) return (*hardmax_)(q / v);
  if (model_.noise == 0.0) return {model_.observed(), 0.0};
  const double s = model_.noise;
  const double tokens = model_.tokens;
  if (model_.noise_kind == NoiseKind::scaled) return {model_.scores() * v / (v + s), 0.0};
  const double diagonal = tokens * 2.0 * v / (2.0 * v + s);
  return {diagonal + 0.5 * tokens * (tokens - 1.0) * v / (v + s), 0.0};
}

}  // namespace onset::aim
