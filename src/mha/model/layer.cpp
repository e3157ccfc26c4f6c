#include "mha/model/layer.hpp"

#include <algorithm>
#include <cmath>

namespace onset::mha {
namespace {

/// out[c'] += sum_c left[c] matrix[c][c'].
void add_row_times_matrix(const double* left, const double* matrix, std::size_t dim, double* out) {
  for (std::size_t c = 0; c < dim; ++c) {
    const double factor = left[c];
    for (std::size_t o = 0; o < dim; ++o) out[o] += factor * matrix[c * dim + o];
  }
}

void softmax(std::span<double> logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (double& value : logits) sum += value = std::exp(value - top);
  for (double& value : logits) value /= sum;
}

}  // namespace

Layer make_layer(int heads, int dim) {
  const auto size = static_cast<std::size_t>(heads) * static_cast<std::size_t>(dim) *
                    static_cast<std::size_t>(dim);
  return {heads, dim, std::vector<double>(size), std::vector<double>(size)};
}

std::span<const double> Layer::theta_of(int head) const {
  const auto size = static_cast<std::size_t>(dim) * static_cast<std::size_t>(dim);
  return std::span(theta).subspan(static_cast<std::size_t>(head) * size, size);
}

std::span<const double> Layer::w_of(int head) const {
  const auto size = static_cast<std::size_t>(dim) * static_cast<std::size_t>(dim);
  return std::span(w).subspan(static_cast<std::size_t>(head) * size, size);
}

void forward_one(const Layer& layer, const double* x, int tokens, double* out) {
  const auto dim = static_cast<std::size_t>(layer.dim);
  const auto count = static_cast<std::size_t>(tokens);
  std::vector<double> query(dim);
  std::vector<double> mixed(dim);
  std::vector<double> attention(count);
  std::fill(out, out + count * dim, 0.0);
  for (int head = 0; head < layer.heads; ++head) {
    for (std::size_t a = 0; a < count; ++a) {
      std::fill(query.begin(), query.end(), 0.0);
      add_row_times_matrix(&x[a * dim], layer.theta_of(head).data(), dim, query.data());
      for (std::size_t b = 0; b < count; ++b) {
        attention[b] = 0.0;
        for (std::size_t c = 0; c < dim; ++c) attention[b] += query[c] * x[b * dim + c];
      }
      softmax(attention);
      std::fill(mixed.begin(), mixed.end(), 0.0);
      for (std::size_t b = 0; b < count; ++b) {
        for (std::size_t c = 0; c < dim; ++c) mixed[c] += attention[b] * x[b * dim + c];
      }
      add_row_times_matrix(mixed.data(), layer.w_of(head).data(), dim, out + a * dim);
    }
  }
}

void forward_one(const Layer& layer, const std::int8_t* input, int tokens, double* out) {
  const std::vector<double> x(input, input + static_cast<std::ptrdiff_t>(tokens) * layer.dim);
  forward_one(layer, x.data(), tokens, out);
}

}  // namespace onset::mha
