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

/// Moments of a mixture, summed component by component in the caller's `mean` and `second`. Log
/// weights may have any size: the largest so far is kept apart.
class Mixture {
 public:
  Mixture(std::span<double> mean, std::span<double> second) : mean_(mean), second_(second) {
    for (double& x : mean_) x = 0.0;
    for (double& x : second_) x = 0.0;
  }

  /// A component with its own moments.
  void add(double log_weight, std::span<const double> mean, std::span<const double> second) {
    const double weight = admit(log_weight);
    for (std::size_t i = 0; i < mean_.size(); ++i) mean_[i] += weight * mean[i];
    for (std::size_t i = 0; i < second_.size(); ++i) second_[i] += weight * second[i];
  }

  /// Divides by the total weight; returns its logarithm.
  double finish() {
    for (double& x : mean_) x /= total_;
    for (double& x : second_) x /= total_;
    return top_ + std::log(total_);
  }

 private:
  double admit(double log_weight) {
    if (log_weight > top_) {
      const double shrink = std::exp(top_ - log_weight);
      total_ *= shrink;
      for (double& x : mean_) x *= shrink;
      for (double& x : second_) x *= shrink;
      top_ = log_weight;
    }
    const double weight = std::exp(log_weight - top_);
    total_ += weight;
    return weight;
  }

  std::span<double> mean_;
  std::span<double> second_;
  double top_ = -std::numeric_limits<double>::infinity();
  double total_ = 0.0;
};

}  // namespace onset::smi
