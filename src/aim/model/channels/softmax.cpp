#include <algorithm>
#include <cmath>

#include "aim/model/channel.hpp"
#include "aim/model/channels/exact_information.hpp"
#include "aim/model/channels/label_checks.hpp"

namespace onset::aim {
namespace {

void check_probabilities(const double* logs, std::size_t tokens, std::size_t sample) {
  for (std::size_t a = 0; a < tokens; ++a) {
    double sum = 0.0;
    for (std::size_t b = 0; b < tokens; ++b) {
      if (!std::isfinite(logs[a * tokens + b])) {
        wrong_label(sample, "has a probability that is not above 0; allowed: rows of a softmax");
      }
      sum += std::exp(logs[a * tokens + b]);
    }
    if (std::abs(sum - 1.0) > label_tolerance) {
      wrong_label(sample, "has a row of probabilities whose sum is " + to_text(Value(sum)) +
                              "; allowed: rows of a softmax, with sum 1");
    }
  }
}

/// Finds the scores up to one common shift [aim 16]: rows of log y give them up to a shift each,
/// and the symmetry of the scores fixes all of these but one.
void scores_from(const double* log_y, std::size_t tokens, double beta, std::size_t sample,
                 double* out) {
  check_probabilities(log_y, tokens, sample);
  std::vector<double> shift(tokens, 0.0);
  for (std::size_t a = 0; a < tokens; ++a) {
    for (std::size_t b = 0; b < tokens; ++b) {
      shift[a] += log_y[b * tokens + a] - log_y[a * tokens + b];
    }
    shift[a] /= static_cast<double>(tokens);
  }
  for (std::size_t a = 0; a < tokens; ++a) {
    for (std::size_t b = a; b < tokens; ++b) {
      const double one = log_y[a * tokens + b] + shift[a];
      const double other = log_y[b * tokens + a] + shift[b];
      check_symmetry(one, other, sample);
      out[score_index(a, b, tokens)] = 0.5 * (one + other) / beta;
    }
  }
}

/// What labels tell of noisy scores that are known up to a shift: the precisions of all but the one
/// of the shift [aim 18].
class NoisySoftmaxInformation : public Information {
 public:
  explicit NoisySoftmaxInformation(const AttentionIndexed& model) : model_(model) {}
  [[nodiscard]] Estimate operator()(double /*q*/, double v) const override {
    const double tokens = model_.tokens;
    const double diagonal = 2.0 * v + model_.noise_on(true);
    const double off = v + model_.noise_on(false);
    const double pairs = 0.5 * tokens * (tokens - 1.0);
    const double all = tokens * 2.0 * v / diagonal + pairs * v / off;
    const double precision = tokens / diagonal + pairs / off;
    const double shift = tokens * 2.0 * v / (diagonal * diagonal) + pairs * v / (off * off);
    return {all - shift / precision, 0.0};
  }

 private:
  AttentionIndexed model_;
};

class SoftmaxOutput : public OutputFunction {
 public:
  SoftmaxOutput(const AttentionIndexed& model, const Dataset& data)
      : scores_(data.tokens * (data.tokens + 1) / 2),
        shown_(data.samples * scores_),
        noise_(scores_, model.noise_on(false)) {
    for (std::size_t a = 0; a < data.tokens; ++a) {
      noise_[score_index(a, a, data.tokens)] = model.noise_on(true);
    }
    for (std::size_t s = 0; s < data.samples; ++s) {
      scores_from(data.labels.data() + s * data.tokens * data.tokens, data.tokens, model.beta, s,
                  shown_.data() + s * scores_);
    }
  }

  /// The common shift is Gaussian given the others: its mean weighs scores by their precision.
  void gradient(std::size_t sample, std::span<const double> omega, std::span<const double> variance,
                std::span<double> g) const override {
    const double* shown = shown_.data() + sample * scores_;
    double weights = 0.0;
    double shift = 0.0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      weights += 1.0 / (variance[i] + noise_[i]);
      shift += (omega[i] - shown[i]) / (variance[i] + noise_[i]);
    }
    shift /= weights;
    for (std::size_t i = 0; i < g.size(); ++i) {
      g[i] = (shown[i] + shift - omega[i]) / (variance[i] + noise_[i]);
    }
  }

 private:
  std::size_t scores_;
  std::vector<double> shown_;  ///< scores up to a shift of each sample
  std::vector<double> noise_;  ///< variance of the noise on each score
};

/// Labels are kept as logarithms, since probabilities themselves underflow at large beta.
class Softmax : public Channel {
 public:
  [[nodiscard]] std::string_view name() const override { return "softmax"; }
  [[nodiscard]] std::string_view shows() const override { return "the softmax of each row"; }
  [[nodiscard]] std::string_view stored() const override {
    return "n x T x T probabilities, with their logarithms in logY.npy";
  }
  [[nodiscard]] LabelNumbers numbers() const override { return LabelNumbers::logarithms; }
  [[nodiscard]] bool takes_noise() const override { return true; }

  void label(const AttentionIndexed& model, std::span<const double> scores,
             std::span<double> out) const override {
    const auto tokens = static_cast<std::size_t>(model.tokens);
    for (std::size_t a = 0; a < tokens; ++a) {
      double* row = out.data() + a * tokens;
      for (std::size_t b = 0; b < tokens; ++b) {
        row[b] = model.beta * scores[score_index(std::min(a, b), std::max(a, b), tokens)];
      }
      const double top = *std::max_element(row, row + tokens);
      double sum = 0.0;
      for (std::size_t b = 0; b < tokens; ++b) sum += std::exp(row[b] - top);
      for (std::size_t b = 0; b < tokens; ++b) row[b] = (row[b] - top) - std::log(sum);
    }
  }

  /// A label shows all scores but their common shift.
  [[nodiscard]] double shown(const AttentionIndexed& model) const override {
    return model.scores() - 1.0;
  }
  [[nodiscard]] std::unique_ptr<const Information> information(
      const AttentionIndexed& model, std::uint64_t /*seed*/,
      const Context& /*context*/) const override {
    if (model.noise_variance == 0.0) return std::make_unique<ExactInformation>(shown(model));
    return std::make_unique<NoisySoftmaxInformation>(model);
  }
  [[nodiscard]] std::unique_ptr<const OutputFunction> output(const AttentionIndexed& model,
                                                             const Dataset& data) const override {
    return std::make_unique<SoftmaxOutput>(model, data);
  }

  [[nodiscard]] double squared_error(const AttentionIndexed& model, std::span<const double> log_y,
                                     std::span<const double> scores,
                                     std::span<double> slope) const override {
    const auto tokens = static_cast<std::size_t>(model.tokens);
    double loss = 0.0;
    std::vector<double> errors(tokens);
    for (std::size_t a = 0; a < tokens; ++a) {
      const double* h = scores.data() + a * tokens;
      double* p = slope.data() + a * tokens;
      const double top = *std::max_element(h, h + tokens);
      double sum = 0.0;
      for (std::size_t b = 0; b < tokens; ++b) sum += p[b] = std::exp(model.beta * (h[b] - top));
      double mean = 0.0;
      for (std::size_t b = 0; b < tokens; ++b) {
        p[b] /= sum;
        errors[b] = p[b] - std::exp(log_y[a * tokens + b]);
        loss += errors[b] * errors[b];
        mean += p[b] * errors[b];
      }
      for (std::size_t b = 0; b < tokens; ++b) p[b] *= 2.0 * model.beta * (errors[b] - mean);
    }
    return loss;
  }
};

}  // namespace

const Channel& softmax_channel() {
  static const Softmax channel;
  return channel;
}

}  // namespace onset::aim
