#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "numerics/random/stream.hpp"
#include "smi/learners/text_training.hpp"

namespace onset::smi::testing {

/// The training of [smi 80] and [smi 81] in the plainest way: loops, double precision, gradients by
/// central differences. Shares with the program only the random streams. For tiny sizes.
class TextOracle {
 public:
  TextOracle(const TextOptions& options, const TextCorpus& corpus)
      : o_(options), corpus_(corpus), order_(options.seed, "text order", 0) {
    draw(corpus.words * o_.embedding, "text embedding", o_.embedding_scale);
    for (std::int64_t l = 0; l < o_.layers; ++l) {
      draw(o_.width * o_.embedding, "text weights " + std::to_string(l), o_.weight_scale);
    }
    for (std::int64_t l = 0; l < o_.layers; ++l) append_zeros(o_.width);
    std::vector<double> uniform(static_cast<std::size_t>(corpus.classes * o_.embedding));
    numerics::Stream(o_.seed, "text readout").uniform(uniform);
    for (const double u : uniform) {
      x_.push_back((2.0 * u - 1.0) / std::sqrt(static_cast<double>(o_.embedding)));
    }
    append_zeros(corpus.classes);
    first_.assign(x_.size(), 0.0);
    second_.assign(x_.size(), 0.0);
    remember();
  }

  /// Takes all steps; the loss of each batch before its step.
  std::vector<double> train() {
    std::vector<double> losses;
    for (std::int64_t epoch = 0; epoch < o_.epochs; ++epoch) {
      const std::vector<std::size_t> order = shuffled();
      for (std::size_t k = 0; k < order.size(); k += static_cast<std::size_t>(o_.batch)) {
        const std::size_t end = std::min(order.size(), k + static_cast<std::size_t>(o_.batch));
        batch_.assign(order.begin() + static_cast<std::ptrdiff_t>(k),
                      order.begin() + static_cast<std::ptrdiff_t>(end));
        losses.push_back(loss());
        step();
        remember();
      }
    }
    return losses;
  }

  /// Similarity of a layer after `step` steps to the last weights.
  [[nodiscard]] double similarity(std::size_t step, std::int64_t layer) const {
    const auto now = gram(history_[step], layer);
    const auto end = gram(history_.back(), layer);
    const auto dot = [](const auto& a, const auto& b) {
      return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    return dot(now, end) / std::sqrt(dot(now, now) * dot(end, end));
  }

  /// Test questions that the present weights answer right.
  [[nodiscard]] std::int64_t correct() const {
    std::int64_t count = 0;
    for (const TextExample& question : corpus_.test) {
      const std::vector<double> s = scores(question);
      count += std::max_element(s.begin(), s.end()) - s.begin() == question.label ? 1 : 0;
    }
    return count;
  }

 private:
  void draw(std::int64_t count, const std::string& purpose, double scale) {
    std::vector<double> values(static_cast<std::size_t>(count));
    numerics::Stream(o_.seed, purpose).normal(values);
    for (const double v : values) x_.push_back(scale * v);
  }
  void append_zeros(std::int64_t count) { x_.resize(x_.size() + static_cast<std::size_t>(count)); }

  std::vector<std::size_t> shuffled() {
    std::vector<std::size_t> order(corpus_.train.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1],
                order[static_cast<std::size_t>(order_.uniform() * static_cast<double>(i))]);
    }
    return order;
  }

  [[nodiscard]] std::size_t weights_at(std::int64_t layer) const {
    return static_cast<std::size_t>(o_.embedding * (corpus_.words + layer * o_.width));
  }
  [[nodiscard]] std::size_t biases_at(std::int64_t layer) const {
    return weights_at(o_.layers) + static_cast<std::size_t>(layer * o_.width);
  }

  /// One attention layer on the tokens of one question.
  [[nodiscard]] std::vector<std::vector<double>> attend(const std::vector<std::vector<double>>& in,
                                                        std::int64_t layer) const {
    const auto e = static_cast<std::size_t>(o_.embedding);
    const auto p = static_cast<std::size_t>(o_.width);
    std::vector<std::vector<double>> keys(in.size(), std::vector<double>(p));
    for (std::size_t i = 0; i < in.size(); ++i) {
      for (std::size_t k = 0; k < p; ++k) {
        keys[i][k] = x_[biases_at(layer) + k];
        for (std::size_t d = 0; d < e; ++d)
          keys[i][k] += x_[weights_at(layer) + k * e + d] * in[i][d];
      }
    }
    std::vector<std::vector<double>> out(in.size(), std::vector<double>(e));
    for (std::size_t i = 0; i < in.size(); ++i) {
      std::vector<double> share;
      for (const auto& key : keys) {
        const double score = std::inner_product(key.begin(), key.end(), keys[i].begin(), 0.0);
        share.push_back(std::exp(score / std::sqrt(static_cast<double>(p))));
      }
      const double total = std::accumulate(share.begin(), share.end(), 0.0);
      for (std::size_t d = 0; d < e; ++d) {
        out[i][d] = o_.skip * in[i][d];
        for (std::size_t j = 0; j < in.size(); ++j) out[i][d] += share[j] / total * in[j][d];
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<double> scores(const TextExample& question) const {
    const auto e = static_cast<std::size_t>(o_.embedding);
    std::vector<std::vector<double>> tokens;
    for (const std::int64_t word : question.words) {
      const auto at = x_.begin() + static_cast<std::ptrdiff_t>(word * o_.embedding);
      tokens.emplace_back(at, at + static_cast<std::ptrdiff_t>(e));
    }
    for (std::int64_t l = 0; l < o_.layers; ++l) tokens = attend(tokens, l);
    const std::size_t readout = biases_at(o_.layers);
    const auto classes = static_cast<std::size_t>(corpus_.classes);
    std::vector<double> result;
    for (std::size_t c = 0; c < classes; ++c) {
      result.push_back(x_[readout + classes * e + c]);
      for (const auto& token : tokens) {
        for (std::size_t d = 0; d < e; ++d) {
          result.back() += x_[readout + c * e + d] * token[d] / static_cast<double>(tokens.size());
        }
      }
    }
    return result;
  }

  [[nodiscard]] double loss() const {
    double sum = 0.0;
    for (const std::size_t i : batch_) {
      const std::vector<double> s = scores(corpus_.train[i]);
      double total = 0.0;
      for (const double score : s) total += std::exp(score);
      sum += std::log(total) - s[static_cast<std::size_t>(corpus_.train[i].label)];
    }
    return sum / static_cast<double>(batch_.size());
  }

  [[nodiscard]] std::vector<double> gradient() {
    constexpr double h = 1e-5;
    std::vector<double> g;
    for (double& x : x_) {
      const double at = x;
      x = at + h;
      const double above = loss();
      x = at - h;
      g.push_back((above - loss()) / (2.0 * h));
      x = at;
    }
    return g;
  }

  void step() {
    const std::vector<double> g = gradient();
    const double t = static_cast<double>(history_.size());
    for (std::size_t i = 0; i < x_.size(); ++i) {
      first_[i] = 0.9 * first_[i] + 0.1 * g[i];
      second_[i] = 0.999 * second_[i] + 0.001 * g[i] * g[i];
      const double mean = first_[i] / (1.0 - std::pow(0.9, t));
      const double square = second_[i] / (1.0 - std::pow(0.999, t));
      x_[i] -= o_.rate * (o_.decay * x_[i] + mean / (std::sqrt(square) + 1e-8));
    }
  }

  void remember() { history_.push_back(x_); }

  [[nodiscard]] std::vector<double> gram(const std::vector<double>& x, std::int64_t layer) const {
    const auto e = static_cast<std::size_t>(o_.embedding);
    std::vector<double> g(e * e, 0.0);
    for (std::size_t k = 0; k < static_cast<std::size_t>(o_.width); ++k) {
      const std::size_t row = weights_at(layer) + k * e;
      for (std::size_t a = 0; a < e; ++a) {
        for (std::size_t b = 0; b < e; ++b) g[a * e + b] += x[row + a] * x[row + b];
      }
    }
    return g;
  }

  TextOptions o_;
  TextCorpus corpus_;
  numerics::Stream order_;
  std::vector<double> x_;  ///< embedding, weights, biases, readout and its bias
  std::vector<double> first_;
  std::vector<double> second_;
  std::vector<std::size_t> batch_;
  std::vector<std::vector<double>> history_;
};

}  // namespace onset::smi::testing
