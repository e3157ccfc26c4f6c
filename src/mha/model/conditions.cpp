#include "mha/model/conditions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "mha/model/instance.hpp"
#include "numerics/linear_algebra/singular_values.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::mha {
namespace {

/// Examples of a sample, in 16 batches.
constexpr std::size_t batches = 16;
constexpr std::size_t batch_size = 128;
/// Attention beyond which a row says nothing about logits.
constexpr double saturated = 0.99;
/// Of [mha 24]: the least size of the sum of the projections over that of the labels.
constexpr double visible_projection = 0.05;
/// Singular values below this part of the largest are rounding, for the phases and for mha verify.
constexpr double independent = 1e-8;

double size_of(std::span<const double> x) {
  double sum = 0.0;
  for (const double v : x) sum += v * v;
  return std::sqrt(sum);
}

double product(std::span<const double> x, std::span<const double> y) {
  double sum = 0.0;
  for (std::size_t c = 0; c < x.size(); ++c) sum += x[c] * y[c];
  return sum;
}

/// The sine of the angle between two matrices, from what one has across the other, so that small
/// angles are not lost to rounding; that of a vanishing matrix is 0.
double sine(std::span<const double> x, std::span<const double> y) {
  const double x_size = size_of(x);
  const double y_size = size_of(y);
  if (x_size == 0.0 || y_size == 0.0) return 0.0;
  const double cosine = product(x, y) / (x_size * y_size);
  std::vector<double> across(x.size());
  for (std::size_t c = 0; c < x.size(); ++c) across[c] = x[c] / x_size - cosine * y[c] / y_size;
  return size_of(across);
}

/// The smallest value of f over pairs of heads.
template <class F>
double least_over_pairs(int heads, F&& f) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < heads; ++i) {
    for (int j = 0; j < i; ++j) least = std::min(least, f(i, j));
  }
  return least;
}

std::vector<double> singular(std::vector<double> entries, std::size_t rows, std::size_t columns) {
  return numerics::singular_values({entries.data(), rows, columns});
}

class Inspection {
 public:
  Inspection(const Layer& layer, int tokens, Inputs inputs)
      : layer_(layer), tokens_(tokens), inputs_(inputs), d_(static_cast<std::size_t>(layer.dim)) {}

  std::vector<Condition> conditions(std::uint64_t seed, const Context& context) {
    at_least("tokens", {static_cast<double>(tokens_)}, 2.0);
    const double keys = layer_.heads * (tokens_ - 1.0);
    list_.push_back({"keys of all heads", {keys}, layer_.dim, keys <= layer_.dim});
    add_heads();
    add_projections();
    sample(seed, context);
    return std::move(list_);
  }

 private:
  void fact(const char* name, double value) { list_.push_back({name, {value}}); }
  void at_least(const char* name, const Estimate& value, double bound) {
    list_.push_back({name, value, bound, value.value >= bound});
  }

  void add_heads() {
    std::vector<double> sizes;
    double spread = std::numeric_limits<double>::infinity();
    for (int i = 0; i < layer_.heads; ++i) {
      const std::span<const double> theta = layer_.theta_of(i);
      sizes.push_back(size_of(theta));
      const double top = singular({theta.begin(), theta.end()}, d_, d_).front();
      spread = std::min(spread, top > 0.0 ? std::pow(sizes.back() / top, 2) : 0.0);
    }
    const double largest = *std::max_element(sizes.begin(), sizes.end());
    fact("scale, smallest", *std::min_element(sizes.begin(), sizes.end()));
    fact("scale, largest", largest);
    fact("effective rank, smallest", spread);
    if (layer_.heads == 1) return;
    fact("distance of heads, relative", least_over_pairs(layer_.heads, [&](int i, int j) {
           std::vector<double> off(layer_.theta_of(i).begin(), layer_.theta_of(i).end());
           for (std::size_t c = 0; c < off.size(); ++c) off[c] -= layer_.theta_of(j)[c];
           return largest > 0.0 ? size_of(off) / largest : 0.0;
         }));
    fact("sine between heads, smallest", least_over_pairs(layer_.heads, [&](int i, int j) {
           return sine(layer_.theta_of(i), layer_.theta_of(j));
         }));
    add_lifted(largest);
  }

  /// The heads must be affinely independent: (theta_i/largest norm, 1) linearly.
  void add_lifted(double largest) {
    std::vector<double> rows;
    for (int i = 0; i < layer_.heads; ++i) {
      for (const double t : layer_.theta_of(i)) rows.push_back(largest > 0.0 ? t / largest : 0.0);
      rows.push_back(1.0);
    }
    const auto s = singular(rows, static_cast<std::size_t>(layer_.heads), d_ * d_ + 1);
    at_least("affine independence of heads", {s.back() / s.front()}, independent);
  }

  void add_projections() {
    sum_.assign(d_ * d_, 0.0);
    std::vector<double> sizes;
    for (int i = 0; i < layer_.heads; ++i) {
      sizes.push_back(size_of(layer_.w_of(i)));
      for (std::size_t c = 0; c < sum_.size(); ++c) sum_[c] += layer_.w_of(i)[c];
    }
    const double largest = *std::max_element(sizes.begin(), sizes.end());
    fact("projections, smallest over largest",
         largest > 0.0 ? *std::min_element(sizes.begin(), sizes.end()) / largest : 0.0);
    if (layer_.heads > 1) {
      at_least(
          "sine between projections, smallest",
          {least_over_pairs(layer_.heads,
                            [&](int i, int j) { return sine(layer_.w_of(i), layer_.w_of(j)); })},
          independent);
    }
    const auto s = singular(sum_, d_, d_);
    top_of_sum_ = s.front();
    fact("sum of projections, smallest over largest singular value",
         s.front() > 0.0 ? s.back() / s.front() : 0.0);
  }

  /// What depends on inputs: means over batches, with their scatter.
  void sample(std::uint64_t seed, const Context& context) {
    InstanceLaw law;
    law.heads = layer_.heads;
    law.dim = layer_.dim;
    law.tokens = tokens_;
    law.inputs = inputs_;
    std::vector<double> visible;
    std::vector<double> mixed;
    std::vector<double> saturation;
    for (std::size_t b = 0; b < batches; ++b) {
      context.check();
      const Examples examples =
          draw_examples(law, layer_, batch_size, seed + b, "mha conditions", context);
      visible.push_back(top_of_sum_ * std::sqrt(static_cast<double>(examples.y.size())) /
                        size_of(examples.y));
      mixed.push_back(mean_independence(examples));
      saturation.push_back(saturated_part(examples));
    }
    at_least("sum of projections over labels", numerics::reduce(visible), visible_projection);
    at_least("independence of projected keys", numerics::reduce(mixed), independent);
    list_.push_back({"saturated rows", numerics::reduce(saturation)});
  }

  /// The mean over examples of the smallest singular value of [M W_1; ..; M W_m], over the largest
  /// of the projections. [mha 8]
  [[nodiscard]] double mean_independence(const Examples& examples) const {
    const auto keys = static_cast<std::size_t>(tokens_ - 1);
    const std::size_t rows = keys * static_cast<std::size_t>(layer_.heads);
    if (rows == 0 || rows > d_) return 0.0;
    double sum = 0.0;
    std::vector<double> x(examples.width());
    for (std::size_t n = 0; n < examples.count; ++n) {
      examples.copy_input(n, x.data());
      const double* last = x.data() + keys * d_;
      std::vector<double> stacked(rows * d_, 0.0);
      for (std::size_t row = 0; row < rows; ++row) {
        const std::span<const double> w = layer_.w_of(static_cast<int>(row / keys));
        const double* key = x.data() + (row % keys) * d_;
        for (std::size_t c = 0; c < d_; ++c) {
          const double off = key[c] - last[c];
          for (std::size_t o = 0; o < d_; ++o) stacked[row * d_ + o] += off * w[c * d_ + o];
        }
      }
      const auto s = singular(std::move(stacked), rows, d_);
      sum += s.front() > 0.0 ? s.back() / s.front() : 0.0;
    }
    return sum / static_cast<double>(examples.count);
  }

  /// The part of the rows in which every head attends to one key alone.
  [[nodiscard]] double saturated_part(const Examples& examples) const {
    std::size_t count = 0;
    std::vector<double> x(examples.width());
    for (std::size_t n = 0; n < examples.count; ++n) {
      examples.copy_input(n, x.data());
      for (int a = 0; a < tokens_; ++a) count += all_heads_saturated(x.data(), a) ? 1 : 0;
    }
    return static_cast<double>(count) /
           static_cast<double>(examples.count * static_cast<std::size_t>(tokens_));
  }

  [[nodiscard]] bool all_heads_saturated(const double* x, int query) const {
    for (int i = 0; i < layer_.heads; ++i) {
      std::vector<double> logits(static_cast<std::size_t>(tokens_), 0.0);
      for (std::size_t c = 0; c < d_; ++c) {
        for (std::size_t e = 0; e < d_; ++e) {
          const double entry =
              x[static_cast<std::size_t>(query) * d_ + c] * layer_.theta_of(i)[c * d_ + e];
          for (std::size_t b = 0; b < logits.size(); ++b) logits[b] += entry * x[b * d_ + e];
        }
      }
      const double top = *std::max_element(logits.begin(), logits.end());
      double total = 0.0;
      for (const double logit : logits) total += std::exp(logit - top);
      if (1.0 / total < saturated) return false;
    }
    return true;
  }

  const Layer& layer_;
  int tokens_;
  Inputs inputs_;
  std::size_t d_;
  std::vector<double> sum_;
  double top_of_sum_ = 0.0;
  std::vector<Condition> list_;
};

}  // namespace

std::vector<Condition> conditions_of(const Layer& layer, int tokens, Inputs inputs,
                                     std::uint64_t seed, const Context& context) {
  return Inspection(layer, tokens, inputs).conditions(seed, context);
}

}  // namespace onset::mha
