#include "smi/limits/channel_at_zero.hpp"

#include <algorithm>
#include <cmath>

namespace onset::smi {

ChannelAtZero sampled_channel_at_zero(const SequenceModel& model, const ChannelOptions& options,
                                      std::span<const double> variance, const Context& context) {
  ChannelInformation info = Channel(model, options).at(variance, context);
  ChannelAtZero out;
  out.growth = std::move(info.growth);
  out.pull = std::move(info.gain);
  out.log_evidence = std::move(info.log_evidence);
  out.log_evidence_bias = info.log_evidence_bias;
  for (std::size_t b = 0; b < variance.size(); ++b) {
    const double rate = out.growth[b].empty() ? 1.0 : std::abs(numerics::mean(out.growth[b]));
    out.relative_bias.push_back(info.growth_bias[b] / std::max(rate, min_rate));
  }
  return out;
}

}  // namespace onset::smi
