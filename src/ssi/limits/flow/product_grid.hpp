#pragma once

#include <cstddef>
#include <vector>

namespace onset::ssi {

/// A product rule for normal variables without its corners, in whole batches: the last is padded
/// with points of weight 0.
struct ProductGrid {
  static constexpr std::size_t batch = 512;
  std::vector<double> points;  ///< batch after batch: [dimension * batch + p]
  std::vector<double> weights;
};

/// The uniform rule of that step and half width in every dimension. Points whose weight is below
/// `min_weight` times the largest are left out.
[[nodiscard]] ProductGrid product_grid(std::size_t dimensions, double step, double width,
                                       double min_weight);

}  // namespace onset::ssi
