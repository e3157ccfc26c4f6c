#pragma once

#include <vector>

#include "mha/learners/polish/head_features.hpp"

namespace onset::mha {

/// Points of a net, one per head, and what least squares over w leaves of the labels.
struct Tuple {
  std::vector<std::size_t> points;
  double residual = 0.0;  ///< the relative residual
};

/// Least squares for tuples of net points: the Gram matrix of all features is computed once, and
/// every tuple is then one small solve.
class TupleSearch {
 public:
  TupleSearch(const Subset& sample, const std::vector<Vector>& points, const Context& context);

  /// The best `count` tuples of `heads` different points. For two heads all pairs are tried; for
  /// more, the best pairs are extended one point at a time and improved by exchanges.
  [[nodiscard]] std::vector<Tuple> best(int heads, std::size_t count, const Context& context) const;
  /// The number of tuples that the last search solved.
  [[nodiscard]] std::size_t tried() const { return tried_; }
  [[nodiscard]] double residual(const std::vector<std::size_t>& points) const;

 private:
  [[nodiscard]] std::vector<Tuple> best_pairs(std::size_t count, const Context& context) const;
  /// The tuple with place `slot` (or a new one at its end) filled by the best point.
  [[nodiscard]] Tuple fill(const Tuple& tuple, std::size_t slot, const Context& context) const;

  Index dim_;
  std::size_t points_;
  Matrix gram_;
  Matrix right_;
  double total_ = 0.0;
  mutable std::size_t tried_ = 0;
};

}  // namespace onset::mha
