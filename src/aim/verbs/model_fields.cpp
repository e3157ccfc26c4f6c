#include "aim/verbs/model_fields.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "aim/model/channel.hpp"
#include "core/prose.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {

std::vector<std::string> channel_words() {
  std::vector<std::string> words;
  for (const Channel* channel : channels()) words.emplace_back(channel->name());
  return words;
}

std::string channel_text() {
  std::string text;
  for (const Channel* channel : channels()) {
    text += fmt::format("{} {} ({})", text.empty() ? "" : ",", channel->shows(), channel->name());
  }
  return "What a label shows of the scores:" + text + ".";
}

std::string tokens_text() {
  std::string text;
  for (const Channel* channel : channels()) {
    const TokenRange range = channel->tokens();
    text += fmt::format("{}{} to {} with {}", text.empty() ? "" : ", ", range.min, range.max,
                        channel->name());
  }
  return "Tokens T of a sample: " + text + ".";
}

void settle_noise(std::optional<double>& deviation, std::optional<double>& variance) {
  if (!variance) {
    if (deviation) variance = *deviation * *deviation;
    return;
  }
  // The root of a rounded square is exact (but for squares below the smallest normal number), so
  // that settled values agree to the bit.
  const double root = std::sqrt(*variance);
  const bool normal = *variance == 0.0 || *variance >= std::numeric_limits<double>::min();
  if (normal && deviation.value_or(root) != root) {
    throw InvalidArgument("noise", prose(R"(
        {} is not the standard deviation of `noise_variance = {}`; allowed: one of the two)",
                                         to_text(Value(*deviation)), to_text(Value(*variance))));
  }
  if (!deviation) deviation = root;
}

void refuse_beta_of_hardmax(const AttentionIndexed& model) {
  if (model.channel != &hardmax_channel() || model.beta == AttentionIndexed{}.beta) return;
  throw InvalidArgument("beta",
                        "is of a softmax, and hardmax labels have none; allowed: leaving it out");
}

void refuse_kind_without_noise(NoiseKind kind) {
  if (kind == NoiseKind::scaled) return;
  throw InvalidArgument("noise_kind",
                        "is of noise, and labels without it have none; allowed: with "
                        "`noise_variance` or `noise`, or leaving it out");
}

AttentionIndexed checked_model(const AttentionIndexed& model) {
  model.validate();
  if (model.channel == &linear_channel() && model.beta != AttentionIndexed{}.beta) {
    throw InvalidArgument("beta",
                          "is of a softmax, and linear labels have none; allowed: leaving it out");
  }
  return model;
}

}  // namespace onset::aim
