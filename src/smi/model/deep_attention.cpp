#include "onset/smi/model/deep_attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "onset/core/error.hpp"

namespace onset::smi {
namespace {

void check_range(const char* field, double value, double low, double high) {
  if (!(value >= low && value <= high)) {
    throw InvalidArgument(field, std::to_string(value) + " is outside the allowed range [" +
                                     std::to_string(low) + ", " + std::to_string(high) + "]");
  }
}

/// Row `row` of softmax(beta u u^T), with the largest score subtracted so that nothing overflows.
void softmax_row(double beta, std::span<const double> u, std::size_t row, std::span<double> out) {
  double top = -HUGE_VAL;
  for (std::size_t j = 0; j < u.size(); ++j) top = std::max(top, beta * u[row] * u[j]);
  double sum = 0.0;
  for (std::size_t j = 0; j < u.size(); ++j) {
    out[j] = std::exp(beta * u[row] * u[j] - top);
    sum += out[j];
  }
  for (double& x : out) x /= sum;
}

}  // namespace

void DeepAttention::validate() const {
  check_range("layers", layers, 1, max_layers);
  check_range("tokens", tokens, 2, max_tokens);
  const auto below_last = static_cast<std::size_t>(std::max(layers - 1, 1));
  if (skip.size() != 1 && skip.size() != below_last) {
    const std::string each = below_last == 1 ? "" : " or " + std::to_string(below_last);
    throw InvalidArgument("skip", std::to_string(skip.size()) + " values given; allowed: 1" + each +
                                      " (one for all, or one for every layer below the last)");
  }
  for (const double c : skip) check_range("skip", c, 0.0, max_skip);
  check_range("beta", beta, min_beta, max_beta);
}

double DeepAttention::skip_of(int layer) const {
  return skip.size() == 1 ? skip.front() : skip[static_cast<std::size_t>(layer)];
}

void label_field(const DeepAttention& model, std::span<const double> fields, std::span<double> h) {
  const auto m = static_cast<std::size_t>(model.tokens);
  // Only B_{l-1} z is ever needed, so every remaining layer's fields are pushed through each layer.
  // Buffers are kept: this is the inner loop of every plain expectation.
  thread_local std::vector<double> u;
  thread_local std::vector<double> mixed;
  std::array<double, max_tokens> row_buffer;
  const std::span<double> row = std::span(row_buffer).first(m);
  u.assign(fields.begin(), fields.end());
  mixed.resize(u.size());
  for (int layer = 0; layer + 1 < model.layers; ++layer) {
    const std::span<const double> score(u.data() + static_cast<std::size_t>(layer) * m, m);
    for (std::size_t i = 0; i < m; ++i) {
      softmax_row(model.beta, score, i, row);
      row[i] += model.skip_of(layer);
      for (auto above = static_cast<std::size_t>(layer) + 1;
           above < static_cast<std::size_t>(model.layers); ++above) {
        double sum = 0.0;
        for (std::size_t j = 0; j < m; ++j) sum += row[j] * u[above * m + j];
        mixed[above * m + i] = sum;
      }
    }
    std::copy(
        mixed.begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(layer) + 1) * m),
        mixed.end(),
        u.begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(layer) + 1) * m));
  }
  std::copy(u.end() - model.tokens, u.end(), h.begin());
}

void attention_matrix(const DeepAttention& model, std::span<const double> fields,
                      std::span<double> y) {
  const auto m = static_cast<std::size_t>(model.tokens);
  std::array<double, max_tokens> h{};
  label_field(model, fields, std::span(h).first(m));
  for (std::size_t i = 0; i < m; ++i) {
    softmax_row(model.beta, std::span<const double>(h).first(m), i, y.subspan(i * m, m));
  }
}

}  // namespace onset::smi
