#pragma once

#include "mha/linear_algebra/dense.hpp"
#include "mha/model/examples.hpp"
#include "numerics/linear_algebra/matrix_equations.hpp"

namespace onset::mha::verifier {

/// Fitted attention may leave the simplex by this much; further out the heads do not agree.
inline constexpr double simplex_slack = 0.05;
/// Pivots below this share of the longest row mean that tokens coincide.
inline constexpr double pivot_floor = 1e-8;

/// What a query attends to if all heads attend alike [mha 7].
struct FittedRow {
  Vector attention;
  double residual = 0.0;
};

/// One example and a sum of projections: least squares of its labels on its tokens, by Householder
/// reflections. It needs at least two tokens and at most dim + 1.
class ExampleFit {
 public:
  ExampleFit(const Examples& examples, std::size_t example, const Eigen::MatrixXd& sum);

  [[nodiscard]] const Eigen::MatrixXd& tokens() const { return x_; }
  /// Every token but the last, minus the last.
  [[nodiscard]] const Eigen::MatrixXd& differences() const { return differences_; }
  /// The smallest pivot, and the length of the longest difference times the sum.
  [[nodiscard]] double pivot() const { return factors_.min_pivot(); }
  [[nodiscard]] double longest() const { return longest_; }
  /// The length of a query's label without what the last token gives.
  [[nodiscard]] double label(int query) const { return y_.row(query).norm(); }
  [[nodiscard]] FittedRow fit(int query) const;

 private:
  Eigen::MatrixXd x_;
  Eigen::MatrixXd y_;  // labels without what the last token gives
  Eigen::MatrixXd differences_;
  numerics::HouseholderFactors factors_;
  double longest_ = 0.0;
};

}  // namespace onset::mha::verifier
