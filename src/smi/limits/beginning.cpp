#include "smi/limits/beginning.hpp"

#include <algorithm>
#include <cmath>

namespace onset::smi {

Beginning deterministic_beginning(const DeepAttention& model, const UninformedOptions& options,
                                  const Context& context) {
  Uninformed channel = uninformed_channel(model, options, context);
  Beginning out;
  // The label does not see the sign of a layer, so that it says nothing of its mean.
  out.pull.assign(channel.growth.size(), numerics::Replicates(channel.log_evidence.size(), 0.0));
  out.growth = std::move(channel.growth);
  out.log_evidence = std::move(channel.log_evidence);
  out.relative_bias = std::move(channel.grid_error);
  return out;
}

Beginning sampled_beginning(const SequenceModel& model, const ChannelOptions& options,
                            std::span<const double> variance, const Context& context) {
  ChannelInformation info = Channel(model, options).at(variance, context);
  Beginning out;
  out.growth = std::move(info.growth);
  out.pull = std::move(info.gain);
  out.log_evidence = std::move(info.log_evidence);
  out.log_evidence_bias = info.log_evidence_bias;
  for (std::size_t b = 0; b < variance.size(); ++b) {
    const double rate = out.growth[b].empty() ? 1.0 : std::abs(numerics::mean(out.growth[b]));
    out.relative_bias.push_back(info.growth_bias[b] / std::max(rate, least_rate));
  }
  return out;
}

}  // namespace onset::smi
