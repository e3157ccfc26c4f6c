#include "smi/limits/potential.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::smi {
namespace {

/// Positions on the grid, one index per axis of the walk.
class Walk {
 public:
  explicit Walk(const OverlapGrid& grid) : grid_(grid) {
    if (grid.together) {
      sizes_ = {grid.values.front().size()};
    } else {
      for (const auto& values : grid.values) sizes_.push_back(values.size());
    }
    count_ = 1;
    for (const std::size_t size : sizes_) count_ *= size;
  }

  [[nodiscard]] std::size_t count() const { return count_; }

  [[nodiscard]] std::vector<double> overlap(std::size_t position) const {
    const std::vector<std::size_t> at = indices(position);
    std::vector<double> q;
    for (std::size_t b = 0; b < grid_.values.size(); ++b) {
      q.push_back(grid_.values[b][at[grid_.together ? 0 : b]]);
    }
    return q;
  }

  /// Positions one step away along one axis.
  [[nodiscard]] std::vector<std::size_t> neighbours(std::size_t position) const {
    const std::vector<std::size_t> at = indices(position);
    std::vector<std::size_t> out;
    std::size_t stride = 1;
    for (std::size_t axis = sizes_.size(); axis-- > 0; stride *= sizes_[axis]) {
      if (at[axis] > 0) out.push_back(position - stride);
      if (at[axis] + 1 < sizes_[axis]) out.push_back(position + stride);
    }
    return out;
  }

 private:
  [[nodiscard]] std::vector<std::size_t> indices(std::size_t position) const {
    std::vector<std::size_t> at(sizes_.size());
    for (std::size_t axis = sizes_.size(); axis-- > 0; position /= sizes_[axis]) {
      at[axis] = position % sizes_[axis];
    }
    return at;
  }

  const OverlapGrid& grid_;
  std::vector<std::size_t> sizes_;
  std::size_t count_ = 1;
};

/// Differences count beyond this many of their standard errors, of 16 replicates: less than one in
/// a thousand does by chance.
constexpr double height_significance = 4.0;

/// Phi at every position, for a comparison of two of them replicate by replicate.
struct Heights {
  std::vector<numerics::Replicates> phi;
  std::vector<double> bias;

  [[nodiscard]] bool is_above(std::size_t high, std::size_t low) const {
    numerics::Replicates difference = phi[high];
    for (std::size_t r = 0; r < difference.size(); ++r) difference[r] -= phi[low][r];
    const Estimate e = numerics::reduce(difference, std::abs(bias[high] - bias[low]));
    return e.value > height_significance * e.error;
  }
};

/// The maxima that errors allow to claim: the largest value, and every one that is above the lowest
/// point of the best path to a larger one. The water falls from above: a point that comes out of it
/// alone is a peak, one that joins two peaks is the pass between them.
class Maxima {
 public:
  Maxima(const Walk& walk, const Heights& heights, std::vector<PotentialPoint>& points)
      : heights_(heights), points_(points), peak_(points.size(), points.size()) {
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return value(a) > value(b); });
    for (const std::size_t k : order) {
      peak_[k] = k;
      for (const std::size_t n : walk.neighbours(k)) {
        if (peak_[n] < points.size()) join(k, n);
      }
    }
    mark_largest(order.front());
  }

 private:
  [[nodiscard]] double value(std::size_t k) const { return points_[k].free_entropy.value; }

  /// The highest point of the land that k is part of.
  [[nodiscard]] std::size_t peak_of(std::size_t k) const {
    while (peak_[k] != k) k = peak_[k];
    return k;
  }

  void join(std::size_t pass, std::size_t neighbour) {
    std::size_t high = peak_of(pass);
    std::size_t low = peak_of(neighbour);
    if (high == low) return;
    if (value(low) > value(high)) std::swap(high, low);
    peak_[low] = high;
    if (low != pass && heights_.is_above(low, pass)) points_[low].maximum = Maximum::local;
  }

  /// Points of which errors do not tell that they are below the largest are unresolved, as it is.
  void mark_largest(std::size_t largest) {
    points_[largest].maximum = Maximum::global;
    for (std::size_t k = 0; k < points_.size(); ++k) {
      if (k == largest || heights_.is_above(largest, k)) continue;
      points_[k].maximum = points_[largest].maximum = Maximum::unresolved;
    }
  }

  const Heights& heights_;
  std::vector<PotentialPoint>& points_;
  std::vector<std::size_t> peak_;  ///< a point of the same land that is higher, or the point itself
};

}  // namespace

void OverlapGrid::validate() const {
  if (values.empty()) throw InvalidArgument("values", "needs one list per block");
  for (const auto& list : values) {
    if (list.empty()) throw InvalidArgument("values", "allowed: one overlap or more per block");
    if (together && list.size() != values.front().size()) {
      throw InvalidArgument("values", "lists taken together must be equally long");
    }
    for (const double q : list) {
      if (!(q >= 0.0 && q < 1.0)) throw InvalidArgument("values", "allowed: numbers in [0, 1)");
    }
  }
}

std::vector<std::vector<PotentialPoint>> potential(const Channel& channel, const OverlapGrid& grid,
                                                   std::span<const double> alphas,
                                                   const Context& context) {
  grid.validate();
  const FieldShape& shape = channel.model().shape();
  if (grid.values.size() != shape.blocks()) {
    throw InvalidArgument("values", "needs one list per block: " + std::to_string(shape.blocks()));
  }
  const Walk walk(grid);
  std::vector<std::vector<PotentialPoint>> out(alphas.size());
  std::vector<Heights> heights(alphas.size());
  for (std::size_t k = 0; k < walk.count(); ++k) {
    context.check();
    const std::vector<double> overlap = walk.overlap(k);
    std::vector<double> variance;
    double prior = 0.0;
    for (std::size_t b = 0; b < overlap.size(); ++b) {
      variance.push_back(1.0 - overlap[b]);
      prior += 0.5 * shape.rank[b] * (overlap[b] + std::log1p(-overlap[b]));
    }
    const ChannelInformation information = channel.at(variance, context);
    for (std::size_t a = 0; a < alphas.size(); ++a) {
      const double alpha = alphas[a];
      const double bias = alpha * information.log_evidence_bias;
      heights[a].phi.push_back(
          numerics::map(information.log_evidence, [&](double psi) { return prior + alpha * psi; }));
      heights[a].bias.push_back(bias);
      const double shared = alpha * information.log_evidence_shared;
      out[a].push_back({overlap, numerics::reduce(heights[a].phi.back(), std::hypot(bias, shared)),
                        Maximum::none});
    }
    context.report(static_cast<double>(k + 1) / static_cast<double>(walk.count()), "overlaps");
  }
  for (std::size_t a = 0; a < alphas.size(); ++a) Maxima(walk, heights[a], out[a]);
  return out;
}

}  // namespace onset::smi
