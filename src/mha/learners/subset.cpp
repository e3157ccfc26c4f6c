#include "mha/learners/subset.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace onset::mha {

Matrix tokens_of(const Subset& sample, std::size_t begin, std::size_t end) {
  const std::size_t width = sample.examples->width();
  Matrix out(static_cast<Index>((end - begin) * sample.tokens()), static_cast<Index>(sample.dim()));
  for (std::size_t n = begin; n < end; ++n) {
    sample.copy_input(n, out.data() + (n - begin) * width);
  }
  return out;
}

Matrix labels_of(const Subset& sample, std::size_t begin, std::size_t end) {
  const std::size_t width = sample.examples->width();
  Matrix out(static_cast<Index>((end - begin) * sample.tokens()), static_cast<Index>(sample.dim()));
  for (std::size_t n = begin; n < end; ++n) {
    std::copy_n(sample.y(n), width, out.data() + (n - begin) * width);
  }
  return out;
}

Subset head_of(const Subset& sample, std::size_t count) {
  const auto end = static_cast<std::ptrdiff_t>(std::min(count, sample.size()));
  return {sample.examples, {sample.index.begin(), sample.index.begin() + end}};
}

int label_exponent(const Examples& examples) {
  constexpr int usual = 10;
  double largest = 0.0;
  for (const double y : examples.y) largest = std::max(largest, std::abs(y));
  const int exponent = largest > 0.0 ? std::ilogb(largest) : 0;
  return std::abs(exponent) > usual ? exponent : 0;
}

void scale(std::vector<double>& values, int exponent) {
  for (double& value : values) value = std::ldexp(value, exponent);
}

Examples scaled_labels(const Examples& examples, int exponent) {
  Examples out = examples;
  scale(out.y, exponent);
  return out;
}

double label_size(const Subset& sample) {
  double sum = 0.0;
  const std::size_t width = sample.examples->width();
  for (std::size_t n = 0; n < sample.size(); ++n) {
    const double* y = sample.y(n);
    for (std::size_t e = 0; e < width; ++e) sum += y[e] * y[e];
  }
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, sample.size() * width)));
}

}  // namespace onset::mha
