#include "ssi/limits/flow/product_grid.hpp"

#include <algorithm>
#include <cmath>

#include "onset/numerics/quadrature.hpp"

namespace onset::ssi {

ProductGrid product_grid(std::size_t dimensions, double step, double width, double min_weight) {
  constexpr std::size_t batch = ProductGrid::batch;
  const auto rule = numerics::normal_trapezoid(step, width);
  const std::size_t n = rule.nodes.size();
  const double max_weight = *std::max_element(rule.weights.begin(), rule.weights.end());
  const double cut = min_weight * std::pow(max_weight, static_cast<double>(dimensions));
  std::vector<std::vector<double>> kept;
  std::vector<double> weights;
  std::vector<std::size_t> index(dimensions, 0);
  for (bool more = true; more;) {
    double weight = 1.0;
    for (const std::size_t i : index) weight *= rule.weights[i];
    if (weight >= cut) {
      std::vector<double> x;
      for (const std::size_t i : index) x.push_back(rule.nodes[i]);
      kept.push_back(std::move(x));
      weights.push_back(weight);
    }
    std::size_t d = 0;
    while (d < dimensions && ++index[d] == n) index[d++] = 0;
    more = d < dimensions;
  }
  ProductGrid grid;
  const std::size_t batches = (kept.size() + batch - 1) / batch;
  grid.points.assign(batches * dimensions * batch, 0.0);
  grid.weights.assign(batches * batch, 0.0);
  double total = 0.0;
  for (const double w : weights) total += w;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      grid.points[(i / batch) * dimensions * batch + d * batch + i % batch] = kept[i][d];
    }
    grid.weights[i] = weights[i] / total;
  }
  return grid;
}

}  // namespace onset::ssi
