#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace onset::numerics {

/// Integrals of functions with kinks against h_k(x) phi(x) on a line, by Gauss rules of 10 points
/// on panels that are halved until they agree with their halves.

/// A function on a line: values[c * count + i] of its components at points.
using Integrand = std::function<void(std::size_t count, const double* points, double* values)>;

/// Two sums of the same integrals: their difference bounds the error of the first.
struct Moments {
  std::vector<double> fine;
  std::vector<double> coarse;
};

/// The components of an integrand and how many orders of each are wanted.
class MomentLayout {
 public:
  explicit MomentLayout(std::vector<std::size_t> orders) : orders_(std::move(orders)) {
    for (const std::size_t n : orders_) {
      first_.push_back(size_);
      size_ += n;
      most_ = std::max(most_, n);
    }
  }
  [[nodiscard]] std::size_t components() const { return orders_.size(); }
  [[nodiscard]] std::size_t orders(std::size_t component) const { return orders_[component]; }
  [[nodiscard]] std::size_t first(std::size_t component) const { return first_[component]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t most_orders() const { return most_; }

 private:
  std::vector<std::size_t> orders_;
  std::vector<std::size_t> first_;
  std::size_t size_ = 0;
  std::size_t most_ = 0;
};

/// All moments 0.
[[nodiscard]] Moments no_moments(const MomentLayout& layout);

struct PanelEffort {
  double error;  ///< the error that a panel may have
  int halvings;  ///< the number of halvings after which its parts are accepted as they are
};

/// Adds the integrals over the panels between the edges: component c and order k at
/// [layout.first(c) + k].
void add_panels(const Integrand& f, const MomentLayout& layout, PanelEffort effort,
                std::span<const double> edges, Moments& total);

}  // namespace onset::numerics
