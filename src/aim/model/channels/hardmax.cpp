#include <cmath>
#include <string>

#include "aim/model/channel.hpp"
#include "aim/model/channels/hardmax/information.hpp"
#include "aim/model/channels/hardmax/orthant.hpp"
#include "aim/model/channels/hardmax/three_tokens.hpp"
#include "aim/model/channels/label_checks.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {
namespace {

constexpr int max_hardmax_tokens = 12;
/// The largest number of tokens whose posterior has a closed form.
constexpr int max_output_tokens = 3;
/// Measured seconds of one sample's posterior with two and with three tokens.
constexpr double pair_seconds = 2e-6;
constexpr double three_token_seconds = 8e-5;
/// Measured seconds of the quadrature of two tokens, and of sampling where there is no table, over
/// T^2.
constexpr double quadrature_seconds = 0.3;
constexpr double sampling_seconds = 0.5;
constexpr double sampled_tolerance = 5e-3;

/// An information that depends on q and V through their ratio alone.
class RatioInformation : public Information {
 public:
  explicit RatioInformation(std::shared_ptr<const HardmaxInformation> of_ratio)
      : of_ratio_(std::move(of_ratio)) {}
  [[nodiscard]] Estimate operator()(double q, double v) const override {
    return (*of_ratio_)(q / v);
  }

 private:
  std::shared_ptr<const HardmaxInformation> of_ratio_;
};

void check_choice(double label, std::size_t tokens, std::size_t sample) {
  if (label >= 0.0 && label < static_cast<double>(tokens) && label == std::floor(label)) return;
  wrong_label(sample, "has a label that is no column; allowed: 0 to " + std::to_string(tokens - 1));
}

/// Refuses three rows that choose each other in a circle, which would need each score of two tokens
/// to exceed the next one.
void check_no_circle(const double* label, std::size_t sample) {
  const bool up = label[0] == 1.0 && label[1] == 2.0 && label[2] == 0.0;
  const bool down = label[0] == 2.0 && label[1] == 0.0 && label[2] == 1.0;
  if (!up && !down) return;
  wrong_label(sample,
              "has rows that choose each other in a circle; allowed: labels of symmetric scores");
}

class HardmaxOutputFunction : public OutputFunction {
 public:
  explicit HardmaxOutputFunction(const Dataset& data) : tokens_(data.tokens), labels_(data.labels) {
    for (std::size_t i = 0; i < labels_.size(); ++i) check_choice(labels_[i], tokens_, i / tokens_);
    for (std::size_t s = 0; tokens_ == 3 && s < data.samples; ++s) {
      check_no_circle(labels_.data() + s * tokens_, s);
    }
  }

  void gradient(std::size_t sample, std::span<const double> omega, std::span<const double> variance,
                std::span<double> g) const override {
    const double* label = labels_.data() + sample * tokens_;
    if (tokens_ == 2) return pair(label, omega, variance, g);
    const auto column = [label](int row) { return static_cast<int>(label[row]); };
    three_token_label({column(0), column(1), column(2)}, omega, variance, g);
  }

 private:
  /// Computes [aim 19] for two tokens, with a variance for each score; entries 0, 1, 2 are (1,1),
  /// (1,2), (2,2).
  static void pair(const double* label, std::span<const double> omega,
                   std::span<const double> variance, std::span<double> g) {
    const double s1 = label[0] == 0.0 ? 1.0 : -1.0;
    const double s2 = label[1] == 1.0 ? 1.0 : -1.0;
    const double r1 = std::sqrt(variance[0] + variance[1]);
    const double r2 = std::sqrt(variance[2] + variance[1]);
    const Orthant o = orthant(s1 * (omega[0] - omega[1]) / r1, s2 * (omega[2] - omega[1]) / r2,
                              s1 * s2 * variance[1] / (r1 * r2));
    g[0] = s1 * o.rate1 / r1;
    g[2] = s2 * o.rate2 / r2;
    g[1] = -(g[0] + g[2]);
  }

  std::size_t tokens_;
  std::vector<double> labels_;
};

class Hardmax : public Channel {
 public:
  [[nodiscard]] std::string_view name() const override { return "hardmax"; }
  [[nodiscard]] std::string_view shows() const override {
    return "the column of each row's largest entry";
  }
  [[nodiscard]] std::string_view stored() const override { return "n x T columns, from 0"; }
  [[nodiscard]] TokenRange tokens() const override { return {.max = max_hardmax_tokens}; }
  [[nodiscard]] bool has_published_form(int tokens) const override { return tokens == 2; }
  [[nodiscard]] std::vector<std::size_t> label_shape(std::size_t tokens) const override {
    return {tokens};
  }
  [[nodiscard]] LabelNumbers numbers() const override { return LabelNumbers::columns; }

  void label(const AttentionIndexed& model, std::span<const double> scores,
             std::span<double> out) const override {
    const auto tokens = static_cast<std::size_t>(model.tokens);
    for (std::size_t a = 0; a < tokens; ++a) {
      std::size_t best = 0;
      const auto at = [&](std::size_t b) {
        return scores[score_index(std::min(a, b), std::max(a, b), tokens)];
      };
      for (std::size_t b = 1; b < tokens; ++b) {
        if (at(b) > at(best)) best = b;
      }
      out[a] = static_cast<double>(best);
    }
  }

  [[nodiscard]] double shown(const AttentionIndexed& /*model*/) const override { return 0.0; }
  [[nodiscard]] std::string why_never_perfect(const AttentionIndexed& model) const override {
    return std::string("with hardmax labels the error falls like alpha^-") +
           (model.published.density ? "1, with this output function," : "2") + " and is never 0";
  }
  [[nodiscard]] InformationPlan information_plan(const AttentionIndexed& model) const override {
    const double tokens = model.tokens;
    if (model.tokens == 2) {
      return {.method = "The channel by a trapezoid rule in two dimensions, once for all alphas.",
              .core_seconds = quadrature_seconds};
    }
    if (model.tokens <= max_table_tokens) {
      return {.method = "The channel from a table that was sampled once.",
              .tolerance = sampled_tolerance};
    }
    return {.method = "The channel by Gibbs sampling, once for all alphas.",
            .core_seconds = sampling_seconds * tokens * tokens,
            .tolerance = sampled_tolerance};
  }
  [[nodiscard]] std::unique_ptr<const Information> information(
      const AttentionIndexed& model, std::uint64_t seed, const Context& context) const override {
    return std::make_unique<RatioInformation>(
        hardmax_information(model.tokens, model.published, seed, context));
  }

  [[nodiscard]] std::string no_output(const AttentionIndexed& model) const override {
    if (model.tokens <= max_output_tokens) return {};
    return "hardmax of more than three tokens: the posterior of a sample's scores is an integral "
           "over the many orders of six and more of them, and the algorithm would need it for "
           "every sample and iteration; possible: `tokens = 2 or 3`";
  }
  [[nodiscard]] std::unique_ptr<const OutputFunction> output(const AttentionIndexed& model,
                                                             const Dataset& data) const override {
    if (model.tokens > max_output_tokens) throw Refused(no_output(model));
    return std::make_unique<HardmaxOutputFunction>(data);
  }
  [[nodiscard]] double output_seconds(const AttentionIndexed& model) const override {
    return model.tokens == 2 ? pair_seconds : three_token_seconds;
  }
  /// The largest entry of a row stays where it is when S is multiplied by a number.
  [[nodiscard]] bool fixes_length() const override { return false; }

  [[nodiscard]] std::string no_gradient() const override {
    return "hardmax labels are constant almost everywhere, so that their squared error has no "
           "gradient; possible: `channel = softmax or linear`";
  }
};

}  // namespace

const Channel& hardmax_channel() {
  static const Hardmax channel;
  return channel;
}

}  // namespace onset::aim
