#include "onset/aim/model/output.hpp"

#include <cmath>
#include <string>

#include "onset/aim/model/orthant.hpp"
#include "onset/aim/model/three_tokens.hpp"
#include "onset/core/error.hpp"
#include "onset/core/parameters.hpp"

namespace onset::aim {
namespace {

[[noreturn]] void wrong_label(std::size_t sample, const std::string& what) {
  throw InvalidArgument("labels", "sample " + std::to_string(sample) + " " + what);
}

/// Labels of other programs may be rounded to single precision; what is further off is no label.
constexpr double label_tolerance = 1e-4;

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

void check_symmetry(double one, double other, std::size_t sample) {
  if (std::abs(one - other) <= label_tolerance * (1.0 + std::abs(one))) return;
  wrong_label(sample, "shows scores " + to_text(Value(one)) + " and " + to_text(Value(other)) +
                          " of the same two tokens; allowed: labels of symmetric scores");
}

/// Scores up to one common shift [aim 16]: rows of log y are known up to shifts, and the symmetry
/// of the scores fixes all of these but one.
void scores_from_softmax(const double* log_y, std::size_t tokens, double beta, std::size_t sample,
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

void check_choice(double label, std::size_t tokens, std::size_t sample) {
  if (label >= 0.0 && label < static_cast<double>(tokens) && label == std::floor(label)) return;
  wrong_label(sample, "has a label that is no column; allowed: 0 to " + std::to_string(tokens - 1));
}

/// Three rows that choose each other in a circle: each score of two tokens above the next one.
void check_no_circle(const double* label, std::size_t sample) {
  const bool up = label[0] == 1.0 && label[1] == 2.0 && label[2] == 0.0;
  const bool down = label[0] == 2.0 && label[1] == 0.0 && label[2] == 1.0;
  if (!up && !down) return;
  wrong_label(sample,
              "has rows that choose each other in a circle; allowed: labels of symmetric "
              "scores");
}

}  // namespace

void OutputFunction::require_closed_form(const AttentionIndexed& model) {
  if (model.channel != ChannelKind::hardmax || model.tokens <= 3) return;
  throw Refused(
      "hardmax of more than three tokens: the posterior of a sample's scores is an integral over "
      "the many orders of six and more of them, and the algorithm would need it for every sample "
      "and iteration; possible: --tokens 2 or 3");
}

OutputFunction::OutputFunction(const AttentionIndexed& model, const Dataset& data) : model_(model) {
  require_closed_form(model);
  const std::size_t tokens = data.tokens;
  const std::size_t scores = tokens * (tokens + 1) / 2;
  if (model.channel == ChannelKind::hardmax) {
    each_ = tokens;
    shown_ = data.labels;
    for (std::size_t i = 0; i < shown_.size(); ++i) check_choice(shown_[i], tokens, i / tokens);
    for (std::size_t s = 0; tokens == 3 && s < data.samples; ++s) {
      check_no_circle(shown_.data() + s * tokens, s);
    }
    return;
  }
  each_ = scores;
  shown_.resize(data.samples * scores);
  for (std::size_t s = 0; s < data.samples; ++s) {
    const double* y = data.labels.data() + s * tokens * tokens;
    double* out = shown_.data() + s * scores;
    if (model.channel == ChannelKind::softmax) {
      scores_from_softmax(y, tokens, model.beta, s, out);
      continue;
    }
    for (std::size_t a = 0; a < tokens; ++a) {
      for (std::size_t b = a; b < tokens; ++b) {
        const double value = y[a * tokens + b];
        if (!std::isfinite(value))
          wrong_label(s, "has a score that is not finite; allowed: numbers");
        check_symmetry(value, y[b * tokens + a], s);
        out[score_index(a, b, tokens)] = value;
      }
    }
  }
  noise_.assign(scores, model.noise);
  if (model.noise_kind == NoiseKind::scaled) {
    for (std::size_t a = 0; a < tokens; ++a) noise_[score_index(a, a, tokens)] *= 2.0;
  }
}

void OutputFunction::gradient(std::size_t sample, std::span<const double> omega,
                              std::span<const double> variance, std::span<double> g) const {
  const double* shown = shown_.data() + sample * each_;
  switch (model_.channel) {
    case ChannelKind::softmax: return softmax(shown, omega, variance, g);
    case ChannelKind::linear: return linear(shown, omega, variance, g);
    case ChannelKind::hardmax: break;
  }
  if (g.size() == 3) return hardmax(shown, omega, variance, g);
  const auto column = [shown](int row) { return static_cast<int>(shown[row]); };
  three_token_label({column(0), column(1), column(2)}, omega, variance, g);
}

/// The common shift is Gaussian given the others: its mean weighs scores by their precision.
void OutputFunction::softmax(const double* shown, std::span<const double> omega,
                             std::span<const double> variance, std::span<double> g) const {
  double weights = 0.0;
  double shift = 0.0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    weights += 1.0 / variance[i];
    shift += (omega[i] - shown[i]) / variance[i];
  }
  shift /= weights;
  for (std::size_t i = 0; i < g.size(); ++i) g[i] = (shown[i] + shift - omega[i]) / variance[i];
}

void OutputFunction::linear(const double* shown, std::span<const double> omega,
                            std::span<const double> variance, std::span<double> g) const {
  for (std::size_t i = 0; i < g.size(); ++i) {
    g[i] = (shown[i] - omega[i]) / (variance[i] + noise_[i]);
  }
}

/// [aim 19] for two tokens, with a variance for each score: entries 0, 1, 2 are (1,1), (1,2),
/// (2,2).
void OutputFunction::hardmax(const double* label, std::span<const double> omega,
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

}  // namespace onset::aim
