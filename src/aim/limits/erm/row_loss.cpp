#include "aim/limits/erm/row_loss.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "aim/model/channels.hpp"

namespace onset::aim {
namespace {

void softmax(double beta, std::span<const double> scores, std::span<double> p) {
  const double top = *std::max_element(scores.begin(), scores.end());
  double sum = 0.0;
  for (std::size_t b = 0; b < p.size(); ++b) sum += p[b] = std::exp(beta * (scores[b] - top));
  for (double& x : p) x /= sum;
}

std::size_t place_of_largest(std::span<const double> x) {
  return static_cast<std::size_t>(std::max_element(x.begin(), x.end()) - x.begin());
}

}  // namespace

void RowOfLabel::label(std::span<const double> scores, std::span<double> y) const {
  if (model_.channel == &hardmax_channel()) {
    std::fill(y.begin(), y.end(), 0.0);
    y[place_of_largest(scores)] = 1.0;
    return;
  }
  answer(scores, y);
}

void RowOfLabel::answer(std::span<const double> scores, std::span<double> p) const {
  if (model_.channel == &linear_channel()) {
    std::copy(scores.begin(), scores.end(), p.begin());
  } else {
    softmax(model_.beta, scores, p);
  }
}

double RowOfLabel::loss(std::span<const double> y, std::span<const double> scores,
                        std::span<double> gradient, std::span<double> hessian) const {
  const std::size_t n = y.size();
  std::vector<double> p(n);
  answer(scores, p);
  double loss = 0.0;
  if (model_.channel == &linear_channel()) {
    std::fill(hessian.begin(), hessian.end(), 0.0);
    for (std::size_t b = 0; b < n; ++b) {
      const double error = p[b] - y[b];
      loss += error * error;
      gradient[b] = 2.0 * error;
      hessian[b * n + b] = 2.0;
    }
    return loss;
  }
  const double beta = model_.beta;
  if (loss_ == TrainingLoss::cross_entropy) {
    for (std::size_t b = 0; b < n; ++b) {
      if (y[b] > 0.0) loss -= y[b] * std::log(std::max(p[b], 1e-300));
      gradient[b] = beta * (p[b] - y[b]);
      for (std::size_t c = 0; c < n; ++c) {
        hessian[b * n + c] = beta * beta * p[b] * ((b == c ? 1.0 : 0.0) - p[c]);
      }
    }
    return loss;
  }
  double mean = 0.0;    // of the error under p
  double square = 0.0;  // sum of p^2
  for (std::size_t b = 0; b < n; ++b) {
    const double error = p[b] - y[b];
    loss += error * error;
    mean += p[b] * error;
    square += p[b] * p[b];
  }
  for (std::size_t b = 0; b < n; ++b) {
    const double off = p[b] - y[b] - mean;
    gradient[b] = 2.0 * beta * p[b] * off;
    for (std::size_t c = 0; c < n; ++c) {
      const double same = b == c ? 1.0 : 0.0;
      const double mean_slope = p[c] * (p[c] - y[c] - mean) + p[c] * (p[c] - square);
      hessian[b * n + c] = 2.0 * beta * beta * p[b] * ((same - p[c]) * (off + p[b]) - mean_slope);
    }
  }
  return loss;
}

double RowOfLabel::test(std::span<const double> y, std::span<const double> scores) const {
  if (model_.channel == &hardmax_channel()) {
    return y[place_of_largest(scores)] == 1.0 ? 0.0 : 1.0 / static_cast<double>(y.size());
  }
  std::vector<double> p(y.size());
  answer(scores, p);
  double error = 0.0;
  for (std::size_t b = 0; b < y.size(); ++b) error += (p[b] - y[b]) * (p[b] - y[b]);
  return error;
}

}  // namespace onset::aim
