#pragma once

#include <vector>

#include "mha/learners/subset.hpp"
#include "onset/core/context.hpp"

namespace onset::mha {

/// The rows of one example explained by one attention vector each: with M the differences
/// x_b - x_k and W the sum of projections, least squares of y_a - x_k W on the rows of M W [mha 7].
/// If its residual r is small, all heads attend alike there: |pi_i - pi| <= r / sigma [mha 8].
class RowFit {
 public:
  RowFit(std::size_t tokens, std::size_t dim);

  /// Takes the tokens times W (tokens x dim). Returns false when two tokens cannot be told apart.
  bool set_example(const double* token_outputs);
  /// Fits the label of one query.
  void fit(const double* label);

  /// The smallest pivot of the Cholesky factor of M W W^T M^T, which stands in for the unknown
  /// sigma.
  [[nodiscard]] double pivot() const { return pivot_; }
  [[nodiscard]] double residual() const { return residual_; }
  /// residual / pivot, or infinity for attention that leaves the simplex.
  [[nodiscard]] double score() const;
  [[nodiscard]] const std::vector<double>& attention() const { return attention_; }
  [[nodiscard]] const std::vector<double>& residual_vector() const { return left_; }
  /// An orthonormal basis of the rows of M W, (tokens - 1) x dim.
  [[nodiscard]] const std::vector<double>& basis() const { return basis_; }

 private:
  std::size_t tokens_;
  std::size_t dim_;
  double pivot_ = 0.0;
  double residual_ = 0.0;
  std::vector<double> last_;    // x_k W
  std::vector<double> basis_;   // Gram-Schmidt of the rows of M W
  std::vector<double> factor_;  // its triangular factor
  std::vector<double> left_;
  std::vector<double> attention_;
};

/// The scores of every row of the sample under W; infinite where a row says nothing.
[[nodiscard]] std::vector<double> row_scores(const Subset& sample, const Matrix& w,
                                             const Context& context);

/// The `count` rows of smallest finite score, in increasing order of row; fewer when there are
/// fewer.
[[nodiscard]] std::vector<std::size_t> smallest_rows(const std::vector<double>& scores,
                                                     std::size_t count);

/// The root mean square residual of these rows per coordinate that the fit leaves free; label noise
/// in them is not much above it.
[[nodiscard]] double residual_of_rows(const Subset& sample, const Matrix& w,
                                      const std::vector<std::size_t>& rows);

}  // namespace onset::mha
