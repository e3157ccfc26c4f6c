#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

namespace onset::numerics {

/// Component-by-component search for one generating vector that is good at every power of two from
/// 2^min_bits to 2^max_bits (Cools, Kuo, Nuyens 2006). It is used by tools/generate_lattice.cpp and
/// by tests, and is no part of the library at run time.
///
/// The figure of merit of a size n is the squared worst-case error in the weighted Korobov space of
/// smoothness 1, (1/n) sum_i prod_j (1 + gamma_j 2 pi^2 B_2({i z_j / n})) - 1, with gamma_j =
/// 1/j^2.
class LatticeSearch {
 public:
  explicit LatticeSearch(int max_bits, int min_bits = 3)
      : max_bits_(max_bits),
        min_bits_(min_bits),
        size_(std::size_t{1} << max_bits),
        kernel_(size_),
        products_(size_ / 2 + 1, 1.0) {
    for (std::size_t i = 0; i < size_; ++i) {
      const double x = static_cast<double>(i) / static_cast<double>(size_);
      kernel_[i] = 2.0 * std::numbers::pi * std::numbers::pi * (x * x - x + 1.0 / 6.0);
    }
  }

  /// The squared errors that the components so far and `generator` have, sizes ascending.
  [[nodiscard]] std::vector<double> merits(std::uint32_t generator) const {
    const double gamma = weight(components_ + 1);
    // Points i and n - i have equal terms; those of a smaller size are multiples of a power of two.
    std::vector<double> result(static_cast<std::size_t>(max_bits_ - min_bits_ + 1));
    double sum = products_[0] * (1.0 + gamma * kernel_[0]) +
                 term(size_ / 2, generator, gamma);  // the lattice of two points
    for (int bits = 2; bits <= max_bits_; ++bits) {
      const std::size_t step = size_ >> bits;
      double added = 0.0;
      for (std::size_t i = step; i < size_ / 2; i += 2 * step) added += term(i, generator, gamma);
      sum += 2.0 * added;
      if (bits >= min_bits_) {
        result[static_cast<std::size_t>(bits - min_bits_)] = sum * std::ldexp(1.0, -bits) - 1.0;
      }
    }
    return result;
  }

  /// The odd generator whose worst ratio, over the sizes, to the best one of that size is smallest.
  [[nodiscard]] std::uint32_t best() const {
    if (components_ == 0) return 1;  // in one dimension all are equal
    const std::size_t sizes = static_cast<std::size_t>(max_bits_ - min_bits_ + 1);
    std::vector<std::vector<double>> all;
    std::vector<double> lowest(sizes, std::numeric_limits<double>::infinity());
    // z and n - z are the same lattice up to reflection.
    for (std::uint32_t z = 1; z < size_ / 2; z += 2) {
      all.push_back(merits(z));
      for (std::size_t s = 0; s < sizes; ++s) lowest[s] = std::fmin(lowest[s], all.back()[s]);
    }
    std::size_t chosen = 0;
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < all.size(); ++k) {
      double worst = 0.0;
      for (std::size_t s = 0; s < sizes; ++s) worst = std::fmax(worst, all[k][s] / lowest[s]);
      // The margin keeps a tie from being decided by rounding: the smaller generator wins.
      if (worst < smallest * (1.0 - 1e-6)) {
        smallest = worst;
        chosen = k;
      }
    }
    return static_cast<std::uint32_t>(2 * chosen + 1);
  }

  void append(std::uint32_t generator) {
    const double gamma = weight(++components_);
    for (std::size_t i = 0; i < products_.size(); ++i) {
      products_[i] *= 1.0 + gamma * kernel_[(i * generator) & (size_ - 1)];
    }
  }

 private:
  [[nodiscard]] static double weight(int component) { return 1.0 / (component * component); }
  [[nodiscard]] double term(std::size_t i, std::uint32_t generator, double gamma) const {
    return products_[i] * (1.0 + gamma * kernel_[(i * generator) & (size_ - 1)]);
  }

  int max_bits_, min_bits_;
  std::size_t size_;
  int components_ = 0;
  std::vector<double> kernel_;    // 2 pi^2 B_2(i / n)
  std::vector<double> products_;  // products of the components so far, at points 0 .. n/2
};

}  // namespace onset::numerics
