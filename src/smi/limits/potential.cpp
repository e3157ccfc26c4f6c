#include "smi/limits/potential.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "onset/core/error.hpp"

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

void mark_maxima(const Walk& walk, std::vector<PotentialPoint>& points) {
  const auto value = [&](std::size_t k) { return points[k].free_entropy.value; };
  std::size_t best = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (value(k) > value(best)) best = k;
    const auto around = walk.neighbours(k);
    if (std::all_of(around.begin(), around.end(),
                    [&](std::size_t n) { return value(n) < value(k); })) {
      points[k].maximum = Maximum::local;
    }
  }
  points[best].maximum = Maximum::global;
}

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
      out[a].push_back(
          {overlap,
           numerics::reduce(numerics::map(information.log_evidence,
                                          [&](double psi) { return prior + alpha * psi; }),
                            alpha * information.log_evidence_bias),
           Maximum::none});
    }
    context.report(static_cast<double>(k + 1) / static_cast<double>(walk.count()), "overlaps");
  }
  for (auto& points : out) mark_maxima(walk, points);
  return out;
}

}  // namespace onset::smi
