#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace onset::smi {

/// Writes the lower triangle of zeta zeta^T.
inline void outer_triangle(std::span<const double> zeta, std::span<double> second) {
  std::size_t pair = 0;
  for (std::size_t i = 0; i < zeta.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j, ++pair) second[pair] = zeta[i] * zeta[j];
  }
}

/// Moments of a mixture, summed component by component in the caller's `mean`, `second` and, where
/// there are blocks, `cross`. Log weights may have any size, since the largest so far is factored
/// out.
class Mixture {
 public:
  Mixture(std::span<double> mean, std::span<double> second, std::span<double> cross = {})
      : mean_(mean), second_(second), cross_(cross) {
    for (const std::span<double> sums : {mean_, second_, cross_}) {
      for (double& x : sums) x = 0.0;
    }
  }

  /// A component with its own moments.
  void add(double log_weight, std::span<const double> mean, std::span<const double> second,
           std::span<const double> cross = {}) {
    const double weight = admit(log_weight);
    for (std::size_t i = 0; i < mean_.size(); ++i) mean_[i] += weight * mean[i];
    for (std::size_t i = 0; i < second_.size(); ++i) second_[i] += weight * second[i];
    for (std::size_t i = 0; i < cross_.size(); ++i) cross_[i] += weight * cross[i];
  }

  /// Divides by the total weight; returns its logarithm.
  double finish() {
    multiply(1.0 / total_);
    return top_ + std::log(total_);
  }

 private:
  double admit(double log_weight) {
    if (log_weight > top_) {
      const double shrink = std::exp(top_ - log_weight);
      total_ *= shrink;
      multiply(shrink);
      top_ = log_weight;
    }
    const double weight = std::exp(log_weight - top_);
    total_ += weight;
    return weight;
  }

  void multiply(double factor) {
    for (const std::span<double> sums : {mean_, second_, cross_}) {
      for (double& x : sums) x *= factor;
    }
  }

  std::span<double> mean_;
  std::span<double> second_;
  std::span<double> cross_;
  double top_ = -std::numeric_limits<double>::infinity();
  double total_ = 0.0;
};

}  // namespace onset::smi
