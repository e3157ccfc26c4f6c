#include "aim/model/training_loss.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace onset::aim {
namespace {

/// out = softmax(beta scores) of one row; returns log sum exp(beta scores).
double softmax(double beta, std::span<const double> scores, std::span<double> out) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0.0;
  for (std::size_t b = 0; b < scores.size(); ++b) {
    out[b] = std::exp(beta * (scores[b] - largest));
    sum += out[b];
  }
  for (double& y : out) y /= sum;
  return beta * largest + std::log(sum);
}

void one_hot(std::span<const double> scores, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  out[static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin())] =
      1.0;
}

double linear_loss(std::span<const double> teacher, std::span<const double> scores,
                   std::span<double> slope) {
  double loss = 0.0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    slope[i] = scores[i] - teacher[i];
    loss += 0.5 * slope[i] * slope[i];
  }
  return loss;
}

double cross_entropy_row(double beta, std::span<const double> y, std::span<const double> scores,
                         std::span<double> slope) {
  double loss = softmax(beta, scores, slope);
  for (std::size_t b = 0; b < scores.size(); ++b) {
    loss -= beta * y[b] * scores[b];
    slope[b] = beta * (slope[b] - y[b]);
  }
  return loss;
}

double squared_row(double beta, std::span<const double> y, std::span<const double> scores,
                   std::span<double> slope) {
  softmax(beta, scores, slope);
  double loss = 0.0;
  double mean = 0.0;
  for (std::size_t b = 0; b < scores.size(); ++b) {
    const double difference = slope[b] - y[b];
    loss += 0.5 * difference * difference;
    mean += slope[b] * difference;
  }
  for (std::size_t b = 0; b < scores.size(); ++b) {
    slope[b] *= beta * (slope[b] - y[b] - mean);
  }
  return loss;
}

}  // namespace

double training_loss(const AttentionIndexed& labels, SgdLoss loss,
                     std::span<const double> teacher_scores, std::span<const double> scores,
                     std::span<double> slope) {
  if (labels.channel == &linear_channel()) return linear_loss(teacher_scores, scores, slope);
  const auto tokens = static_cast<std::size_t>(labels.tokens);
  std::array<double, 16> small{};
  std::vector<double> large(tokens > small.size() ? tokens : 0);
  const std::span<double> y = large.empty() ? std::span(small).first(tokens) : std::span(large);
  double total = 0.0;
  for (std::size_t a = 0; a < tokens; ++a) {
    const std::span<const double> teacher = teacher_scores.subspan(a * tokens, tokens);
    if (labels.channel == &hardmax_channel()) {
      one_hot(teacher, y);
    } else {
      softmax(labels.beta, teacher, y);
    }
    const auto row = loss == SgdLoss::squared ? squared_row : cross_entropy_row;
    total +=
        row(labels.beta, y, scores.subspan(a * tokens, tokens), slope.subspan(a * tokens, tokens));
  }
  return total;
}

}  // namespace onset::aim
