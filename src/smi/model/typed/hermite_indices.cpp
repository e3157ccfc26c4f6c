#include "smi/model/typed/hermite_indices.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace onset::smi {

HermiteIndices::HermiteIndices(std::size_t variables, int max_degree) : variables_(variables) {
  const std::function<void(MultiIndex&, std::size_t, int)> add = [&](MultiIndex& index,
                                                                     std::size_t f, int left) {
    if (f + 1 == variables) {
      index[f] = left;
      place_[index] = all_.size();
      all_.push_back(index);
      return;
    }
    for (index[f] = left; index[f] >= 0; --index[f]) add(index, f + 1, left - index[f]);
    index[f] = 0;
  };
  for (int degree = 0; degree <= max_degree; ++degree) {
    first_.push_back(all_.size());
    MultiIndex index{};
    add(index, 0, degree);
  }
  first_.push_back(all_.size());
  for (const MultiIndex& index : all_) {
    Step step{0, 0, 0};
    for (std::size_t f = 0; f < variables; ++f) {
      if (index[f] == 0) continue;
      MultiIndex before = index;
      before[f] = 0;
      step = {place_.at(before), f, static_cast<std::size_t>(index[f])};
    }
    steps_.push_back(step);
  }
}

void normalised_hermite(double x, int degree, double* out) {
  out[0] = 1.0;
  if (degree > 0) out[1] = x;
  for (int k = 1; k < degree; ++k) {
    out[k + 1] = (x * out[k] - std::sqrt(static_cast<double>(k)) * out[k - 1]) /
                 std::sqrt(static_cast<double>(k + 1));
  }
}

double root_of_factorials(const HermiteIndices::MultiIndex& index) {
  double product = 1.0;
  for (const int degree : index) {
    for (int k = 2; k <= degree; ++k) product *= k;
  }
  return std::sqrt(product);
}

void HermiteIndices::fill(const double* x, Table& table) const {
  for (std::size_t f = 0; f < variables_; ++f) {
    normalised_hermite(x[f], max_degree(), table[f].data());
  }
}

void HermiteIndices::multiply(const Table& table, std::span<double> out) const {
  out[0] = 1.0;
  for (std::size_t i = 1; i < all_.size(); ++i) {
    const Step& step = steps_[i];
    out[i] = out[step.before] * table[step.variable][step.degree];
  }
}

void HermiteIndices::values(const double* x, std::span<double> out) const {
  Table table;
  fill(x, table);
  multiply(table, out);
}

void HermiteIndices::values_with(const double* x, std::size_t variable,
                                 std::span<const double> replaced, std::span<double> out) const {
  Table table;
  fill(x, table);
  table[variable].fill(1.0);
  multiply(table, out);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    out[i] *= replaced[static_cast<std::size_t>(all_[i][variable])];
  }
}

void HermiteIndices::rotate(std::span<const double> rotation, std::span<double> moments) const {
  const std::size_t n = variables_;
  for (int degree = 1; degree <= max_degree(); ++degree) {
    // He tensors are covariant: as a full tensor, with one rotation per index.
    std::size_t entries = 1;
    for (int k = 0; k < degree; ++k) entries *= n;
    const auto index_of = [&](std::size_t entry) {
      MultiIndex index{};
      for (int k = 0; k < degree; ++k, entry /= n) ++index[entry % n];
      return index;
    };
    std::vector<double> tensor(entries);
    for (std::size_t e = 0; e < entries; ++e) {
      const MultiIndex index = index_of(e);
      tensor[e] = root_of_factorials(index) * moments[at(index)];
    }
    std::vector<double> next(entries);
    std::size_t stride = 1;
    for (int k = 0; k < degree; ++k, stride *= n) {
      for (std::size_t e = 0; e < entries; ++e) {
        const std::size_t own = e / stride % n;
        const std::size_t base = e - own * stride;
        double sum = 0.0;
        for (std::size_t a = 0; a < n; ++a)
          sum += rotation[own * n + a] * tensor[base + a * stride];
        next[e] = sum;
      }
      tensor.swap(next);
    }
    for (std::size_t e = 0; e < entries; ++e) {
      const MultiIndex index = index_of(e);
      moments[at(index)] = tensor[e] / root_of_factorials(index);
    }
  }
}

void add_point(const HermiteIndices& indices, double weight, const double* x,
               std::span<double> scratch, LevelHermite& to) {
  indices.values(x, scratch);
  for (std::size_t i = 0; i < scratch.size(); ++i) to.moments[i] += weight * scratch[i];
  ++to.roots;
}

LevelHermite& LevelHermite::operator+=(const LevelHermite& other) {
  for (std::size_t j = 0; j < moments.size(); ++j) moments[j] += other.moments[j];
  roots += other.roots;
  return *this;
}

LevelHermite& LevelHermite::operator-=(const LevelHermite& other) {
  for (std::size_t j = 0; j < moments.size(); ++j) moments[j] -= other.moments[j];
  roots -= other.roots;
  return *this;
}

LevelHermite& LevelHermite::operator*=(double factor) {
  for (double& moment : moments) moment *= factor;
  return *this;
}

}  // namespace onset::smi
