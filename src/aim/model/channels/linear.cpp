#include <cmath>

#include "aim/model/channel.hpp"
#include "aim/model/channels/exact_information.hpp"
#include "aim/model/channels/label_checks.hpp"

namespace onset::aim {
namespace {

class NoisyLinearInformation : public Information {
 public:
  explicit NoisyLinearInformation(const AttentionIndexed& model) : model_(model) {}
  [[nodiscard]] Estimate operator()(double /*q*/, double v) const override {
    const double s = model_.noise_variance;
    const double tokens = model_.tokens;
    if (model_.noise_kind == NoiseKind::scaled) return {model_.scores() * v / (v + s), 0.0};
    const double diagonal = tokens * 2.0 * v / (2.0 * v + s);
    return {diagonal + 0.5 * tokens * (tokens - 1.0) * v / (v + s), 0.0};
  }

 private:
  AttentionIndexed model_;
};

class LinearOutput : public OutputFunction {
 public:
  LinearOutput(const AttentionIndexed& model, const Dataset& data)
      : scores_(data.tokens * (data.tokens + 1) / 2),
        shown_(data.samples * scores_),
        noise_(scores_, model.noise_on(false)) {
    const std::size_t tokens = data.tokens;
    for (std::size_t s = 0; s < data.samples; ++s) {
      const double* y = data.labels.data() + s * tokens * tokens;
      for (std::size_t a = 0; a < tokens; ++a) {
        for (std::size_t b = a; b < tokens; ++b) {
          const double value = y[a * tokens + b];
          if (!std::isfinite(value)) {
            wrong_label(s, "has a score that is not finite; allowed: numbers");
          }
          check_symmetry(value, y[b * tokens + a], s);
          shown_[s * scores_ + score_index(a, b, tokens)] = value;
        }
      }
    }
    for (std::size_t a = 0; a < tokens; ++a) {
      noise_[score_index(a, a, tokens)] = model.noise_on(true);
    }
  }

  void gradient(std::size_t sample, std::span<const double> omega, std::span<const double> variance,
                std::span<double> g) const override {
    const double* shown = shown_.data() + sample * scores_;
    for (std::size_t i = 0; i < g.size(); ++i) {
      g[i] = (shown[i] - omega[i]) / (variance[i] + noise_[i]);
    }
  }

 private:
  std::size_t scores_;
  std::vector<double> shown_;  ///< the scores of each sample, with their noise
  std::vector<double> noise_;  ///< the variance of the noise on each score
};

class Linear : public Channel {
 public:
  [[nodiscard]] std::string_view name() const override { return "linear"; }
  [[nodiscard]] std::string_view shows() const override { return "the scores themselves"; }
  [[nodiscard]] std::string_view stored() const override { return "n x T x T scores"; }
  [[nodiscard]] TokenRange tokens() const override { return {.min = 1}; }
  [[nodiscard]] bool takes_noise() const override { return true; }

  void label(const AttentionIndexed& model, std::span<const double> scores,
             std::span<double> out) const override {
    const auto tokens = static_cast<std::size_t>(model.tokens);
    for (std::size_t a = 0; a < tokens; ++a) {
      for (std::size_t b = a; b < tokens; ++b) {
        out[a * tokens + b] = out[b * tokens + a] = scores[score_index(a, b, tokens)];
      }
    }
  }

  [[nodiscard]] double shown(const AttentionIndexed& model) const override {
    return model.scores();
  }
  [[nodiscard]] std::unique_ptr<const Information> information(
      const AttentionIndexed& model, std::uint64_t /*seed*/,
      const Context& /*context*/) const override {
    if (model.noise_variance == 0.0) return std::make_unique<ExactInformation>(shown(model));
    return std::make_unique<NoisyLinearInformation>(model);
  }
  [[nodiscard]] std::unique_ptr<const OutputFunction> output(const AttentionIndexed& model,
                                                             const Dataset& data) const override {
    return std::make_unique<LinearOutput>(model, data);
  }

  [[nodiscard]] double squared_error(const AttentionIndexed& /*model*/, std::span<const double> y,
                                     std::span<const double> scores,
                                     std::span<double> slope) const override {
    double loss = 0.0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double error = scores[i] - y[i];
      loss += error * error;
      slope[i] = 2.0 * error;
    }
    return loss;
  }
};

}  // namespace

const Channel& linear_channel() {
  static const Linear channel;
  return channel;
}

}  // namespace onset::aim
