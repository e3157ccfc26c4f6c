#include "mha/model/layer.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/parallel.hpp"

namespace onset::mha {
namespace {

constexpr std::size_t per_block = 512;

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
  const auto size = static_cast<std::size_t>(heads) * static_cast<std::size_t>(dim * dim);
  return {heads, dim, std::vector<double>(size), std::vector<double>(size)};
}

std::span<const double> Layer::theta_of(int head) const {
  const auto size = static_cast<std::size_t>(dim * dim);
  return std::span(theta).subspan(static_cast<std::size_t>(head) * size, size);
}

std::span<const double> Layer::w_of(int head) const {
  const auto size = static_cast<std::size_t>(dim * dim);
  return std::span(w).subspan(static_cast<std::size_t>(head) * size, size);
}

void forward_one(const Layer& layer, const std::int8_t* input, int tokens, double* out) {
  const auto dim = static_cast<std::size_t>(layer.dim);
  const auto count = static_cast<std::size_t>(tokens);
  std::vector<double> x(input, input + count * dim);
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

std::vector<double> forward(const Layer& layer, std::span<const std::int8_t> inputs, int tokens,
                            const Context& context) {
  const auto width = static_cast<std::size_t>(tokens) * static_cast<std::size_t>(layer.dim);
  const std::size_t count = inputs.size() / width;
  std::vector<double> out(count * width);
  numerics::parallel_for(context, (count + per_block - 1) / per_block, [&](std::size_t block) {
    const std::size_t end = std::min(count, (block + 1) * per_block);
    for (std::size_t n = block * per_block; n < end; ++n) {
      forward_one(layer, &inputs[n * width], tokens, &out[n * width]);
    }
  });
  return out;
}

}  // namespace onset::mha
